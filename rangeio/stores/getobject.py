"""GetObject through botocore's own client, for what a signed url cannot do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rangeio.errors import Denied, RangeIOError, ShortReply, StoreError, TimedOut, Unreachable
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.account import credentials_failure
from rangeio.stores.refusal import Refusal
from rangeio.stores.store import Reply

_CONTENT_RANGE = re.compile(r"bytes (?:(\d{1,19})-(\d{1,19})|\*)/(?:(\d{1,19})|\*)")


async def get_object(
    client: Any, asked: Mapping[str, object], at: ByteRange | Suffix, if_match: str | None
) -> Reply | Refusal:
    """The head of one reply, or its refusal. Several times the CPU of a signed url.

    asked: Bucket, Key and whatever else the object needs. Raises Unreachable or TimedOut where no
    reply came, Denied where there are no credentials.
    """
    more = {"Range": _span(at), **({"IfMatch": if_match} if if_match is not None else {})}
    try:
        answer = await client.get_object(**asked, **more)
    except Exception as error:
        refusal = _refusal(error)
        failure = None if refusal is not None else _failure(error)
    else:
        return _reply(answer)
    if failure is not None:
        raise failure
    assert refusal is not None
    if refusal.status == 416:
        total = _content_range(refusal.headers.get("content-range", ""))[1]
        return Reply(None, total, "", status=416)
    return refusal


class _Body:
    """A streaming body of botocore's."""

    __slots__ = ("_stream",)

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def receive(self, into: memoryview) -> int:
        try:
            chunk = await self._stream.read(len(into)) if len(into) else b""
        except Exception as error:
            failure = _broken(error)
        else:
            into[: len(chunk)] = chunk
            return len(chunk)
        raise failure

    def close(self, *, reuse: bool) -> None:
        self._stream.close()


def _span(at: ByteRange | Suffix) -> str:
    return f"bytes=-{at.size}" if isinstance(at, Suffix) else f"bytes={at.start}-{at.stop - 1}"


def _reply(answer: Mapping[str, Any]) -> Reply:
    status = answer["ResponseMetadata"]["HTTPStatusCode"]
    at, total = _content_range(answer.get("ContentRange", ""))
    size = answer.get("ContentLength")
    if status == 200 and at is None and size is not None:
        at, total = ByteRange(0, size), size
    return Reply(
        at,
        total,
        answer.get("ETag", ""),
        body=_Body(answer["Body"]),
        size=size,
        encoding=answer.get("ContentEncoding", ""),
        whole=status == 200,
        status=status,
    )


def _content_range(text: str) -> tuple[ByteRange | None, int | None]:
    """The range and the total that a reply tells; None for what it does not."""
    found = _CONTENT_RANGE.fullmatch(text)
    if found is None:
        return None, None
    first, last, whole = found.groups()
    total = None if whole is None else int(whole)
    if first is None or int(last) < int(first):
        return None, total
    return ByteRange(int(first), int(last) + 1), total


def _refusal(error: Exception) -> Refusal | None:
    """The refusal in a ClientError, None for any other exception."""
    from botocore.exceptions import ClientError

    if not isinstance(error, ClientError):
        return None
    told = error.response.get("ResponseMetadata", {})
    code = error.response.get("Error", {}).get("Code", "")
    headers = {name.lower(): value for name, value in told.get("HTTPHeaders", {}).items()}
    return Refusal(told.get("HTTPStatusCode", 0), headers, f"<Code>{code}</Code>")


def _failure(error: Exception) -> RangeIOError:
    from botocore import exceptions as they

    if isinstance(error, they.ConnectTimeoutError | they.ReadTimeoutError | TimeoutError):
        return TimedOut("no answer in time")
    if isinstance(error, they.SSLError):
        lost = Unreachable("TLS failed")
        lost.transient = False
        return lost
    if isinstance(error, they.HTTPClientError | they.ConnectionError | OSError):
        return Unreachable(f"the connection failed: {type(error).__name__}")
    if type(error).__name__ == "MissingDependencyException":
        return Denied("this bucket's signatures need a package: pip install 'botocore[crt]'")
    return credentials_failure(error)


def _broken(error: Exception) -> StoreError:
    from botocore.exceptions import ReadTimeoutError

    if isinstance(error, ReadTimeoutError | TimeoutError):
        return TimedOut("the body stalled")
    return ShortReply(f"the connection ended before the body did: {type(error).__name__}")
