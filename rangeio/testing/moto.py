"""moto's S3 server in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import urllib.request
from types import TracebackType
from typing import Self
from urllib.parse import quote

_ADDRESS = re.compile(r"Running on (http://127\.0\.0\.1:\d+)")


class MotoServer:
    """An S3 that lists, writes and reads, inside its block; it takes any credentials at all.

    For what a store may be asked besides ranged reads: it checks no signature, and closes every
    connection after one reply. Needs ``moto[s3,server]``.
    """

    def __init__(self) -> None:
        self.url = ""
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None

    @property
    def options(self) -> dict[str, object]:
        """storage_options for s3fs and S3Store."""
        return {
            "key": "testing",
            "secret": "testing",
            "endpoint_url": self.url,
            "client_kwargs": {"region_name": "us-east-1"},
        }

    def bucket(self, name: str) -> None:
        """Make a bucket."""
        self._put(f"/{quote(name)}", b"")

    def put(self, bucket: str, key: str, data: bytes) -> str:
        """Write one object; returns its url for rangeio."""
        self._put(f"/{quote(bucket)}/{quote(key, safe='/-_.~')}", data)
        return f"s3://{bucket}/{key}"

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
        ready = threading.Event()
        self._process = subprocess.Popen(  # noqa: S603
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore"},
        )
        self._reader = threading.Thread(target=self._read, args=(ready,), daemon=True)
        self._reader.start()
        if not ready.wait(60) or not self.url:
            self.__exit__(None, None, None)
            raise RuntimeError("moto's server did not start: pip install 'moto[s3,server]'")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        process, self._process = self._process, None
        if process is None or self._reader is None:
            return
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._reader.join(10)
        assert process.stderr is not None
        process.stderr.close()

    def _read(self, ready: threading.Event) -> None:
        """Find the address, then keep the pipe empty: a full one would stop the server."""
        assert self._process is not None
        assert self._process.stderr is not None
        for line in self._process.stderr:
            found = _ADDRESS.search(line)
            if found is not None and not self.url:
                self.url = found.group(1)
                ready.set()
        ready.set()

    def _put(self, path: str, data: bytes) -> None:
        # moto looks for a credential's form only, to tell whose account is meant.
        scope = "testing/20200101/us-east-1/s3/aws4_request"
        who = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0"
        request = urllib.request.Request(self.url + path, data, method="PUT")  # noqa: S310
        request.add_header("Authorization", who)
        request.add_header("Content-Type", "application/octet-stream")
        with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310
            reply.read()
