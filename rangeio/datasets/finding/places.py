"""What a user's word for files means before anything is asked: where, and which glob below it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from rangeio.datasets.finding.globs import Glob, has_magic, split
from rangeio.datasets.finding.manifest import shown
from rangeio.errors import RequestError

_URL = re.compile(r"(?P<before>.*?)(?P<head>[A-Za-z][A-Za-z0-9+.-]*://)(?P<rest>.*)", re.DOTALL)
_LOCAL = ("file://", "local://")
_WEB = ("http://", "https://")
_BUCKETS = ("s3://", "s3a://", "s3n://", "gs://", "gcs://", *_WEB)
_BUCKETED = {"s3", "s3a", "gs", "gcs"}
_VERSION = re.compile(r"\?(?:versionId|generation)=[^/]*\Z")
_WEB_MAGIC = re.compile(r"[*\[{]")  # a question mark begins a query


@dataclass(frozen=True, slots=True)
class Place:
    """A file, a directory, or a glob below a directory.

    text: opens it, where it is a file. before, after: what stands around the path in its url,
    scheme and chained urls. root: the directory's path, "" or with a slash at its end. glob: below
    the root, None of a directory. local: on this machine's disk. web: urls are listed, whose names
    are encoded. file: whether it may be one file. bucket: whether the root's first segment is a
    bucket or a host.
    """

    text: str = field(repr=False)
    before: str = field(repr=False)
    root: str = field(repr=False)
    after: str = field(repr=False)
    glob: Glob | None
    local: bool
    web: bool
    file: bool
    bucket: bool = False

    def url(self, path: str) -> str:
        """What opens a path below the root, which is encoded where urls are."""
        return f"{self.before}{self.root}{path}{self.after}"

    @property
    def shown(self) -> str:
        """What the user named, redacted."""
        return shown(self.text)

    @property
    def shown_root(self) -> str:
        """The directory, redacted."""
        return shown(self.url(""))

    @property
    def absolute(self) -> bool:
        """Whether the keys of a listing are urls that open."""
        return self.local or self.web

    @property
    def believed(self) -> bool:
        """Whether it is surely meant as a file: a name with an extension, that of no directory."""
        name = self.path.rpartition("/")[2]
        ends = os.path.splitext(name)[1].lower()
        return self.file and self.glob is None and ends not in ("", ".lance")

    @property
    def depth(self) -> int:
        """How many folders deep the root is, the bucket or host apart."""
        return max(self.root.count("/") - self.bucket, 0)

    @property
    def path(self) -> str:
        """The whole path of a file, decoded, with a slash at its beginning."""
        path = self.text[len(self.before) : len(self.text) - len(self.after)]
        return f"/{self.decoded(path.partition('?')[0] if self.web else path).lstrip('/')}"

    def decoded(self, path: str) -> str:
        """A path as people write it."""
        return unquote(path) if self.web else path

    @property
    def keys(self) -> str:
        """The end of a glob's fixed folders that may hold partitions: from ``key=value`` on."""
        folders = self.root.split("/") if self.glob is not None else []
        first = next((i for i, one in enumerate(folders) if "=" in one), len(folders))
        return "/".join(folders[first:])

    def escaped(self, path: str) -> str:
        """The opposite of :meth:`decoded`."""
        return quote(path) if self.web else path


def place_of(text: str, filesystem: Any = None) -> Place:
    """What a word means; of a local path, what is there decides. Raises RequestError."""
    found = _URL.fullmatch(text) if "://" in text else None
    if found is None or (found["head"] in _LOCAL and not found["before"]):
        path = text if found is None else found["rest"]
        if filesystem is None or "file" in _protocols(filesystem):
            return _local(path)
        return _below("", path, "", text, bool(_protocols(filesystem) & _BUCKETED))
    rest, mark, chained = found["rest"].partition("::")
    bucket = found["head"] in _BUCKETS
    return _below(found["before"] + found["head"], rest, mark + chained, text, bucket)


def _protocols(filesystem: Any) -> set[str]:
    names = getattr(filesystem, "protocol", ())
    return {names} if isinstance(names, str) else set(names)


def _local(path: str) -> Place:
    folder = path.endswith(os.sep)
    path = os.path.abspath(os.path.expanduser(path))
    is_there = os.path.lexists(path)
    if has_magic(path) and not is_there:
        root, glob = split(f"{path}/" if folder else path)
        return Place(path, "", root, "", glob, True, False, False)
    root = path.rstrip(os.sep) + os.sep
    may_be_file = not folder and not os.path.isdir(path)
    return Place(path, "", root, "", None, True, False, may_be_file)


def _below(before: str, path: str, after: str, text: str, bucket: bool) -> Place:
    """bucket: the first segment is a bucket or a host, no folder."""
    web = before.endswith(_WEB)
    authority, slash, rest = path.partition("/")
    if not bucket:
        authority, slash, rest = "", "", path
    if has_magic(authority):
        raise RequestError("a bucket or host is no glob", url=shown(text))
    head = f"{authority}{slash}"
    if (web and "?" in rest) or (bucket and _VERSION.search(rest)):
        return Place(text, before, head, after, None, False, web, True, bucket)
    if has_magic(rest, _WEB_MAGIC) if web else has_magic(rest):
        root, glob = split(rest)
        return Place(text, before, head + root, after, glob, False, web, False, bucket)
    file = bool(rest) and not rest.endswith("/")
    root = path if not path or path.endswith("/") else f"{path}/"
    return Place(text, before, root, after, None, False, web, file, bucket)
