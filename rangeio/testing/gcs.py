"""A Google Cloud Storage for reads: the media GET with ranges, generations and bearer tokens."""

from __future__ import annotations

import hashlib
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from rangeio.testing.listener import Listener, Request, Response, ranged

# An object's name is one segment: its slashes come encoded.
_MEDIA = re.compile(r"(?:/download)?/storage/v1/b/([^/]+)/o/([^/]+)")


@dataclass(slots=True)
class GcsObject:
    """One object's data and the number of its generation."""

    data: bytes
    generation: int = 1


@dataclass(slots=True)
class GcsBucket:
    """Objects by name; public ones need no token, ``payer`` wants a project to charge."""

    objects: dict[str, GcsObject] = field(default_factory=dict)
    public: bool = False
    payer: bool = False


class GcsServer(Listener):
    """Buckets behind ``/download/storage/v1/b/{bucket}/o/{name}?alt=media``.

    token: the one bearer token that is good; change it and the old one has expired. readers: False
    makes the token known but not allowed. generations: False leaves out x-goog-generation, as
    some proxies do.
    """

    def __init__(
        self,
        buckets: Mapping[str, GcsBucket],
        *,
        token: str = "token",  # noqa: S107
        generations: bool = True,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(tls=tls)
        self.buckets = dict(buckets)
        self.token = token
        self.readers = True
        self.generations = generations

    def answer(self, request: Request) -> Response:
        """The media of one object, or a refusal."""
        found = _MEDIA.fullmatch(request.path)
        if found is None or request.method != "GET" or request.parameters.get("alt") != "media":
            return Response(404)
        bucket = self.buckets.get(unquote(found.group(1)))
        if bucket is not None and not bucket.public:
            sent = request.headers.get("authorization")
            if sent != f"Bearer {self.token}":
                return Response(401, {"WWW-Authenticate": "Bearer"})
            if not self.readers:
                return Response(403)
        if bucket is None:
            return Response(404)
        if bucket.payer and "userProject" not in request.parameters:
            return Response(400, {}, b"Bucket is a requester pays bucket but no user project")
        kept = bucket.objects.get(unquote(found.group(2)))
        return Response(404) if kept is None else self._media(request, kept)

    def _media(self, request: Request, kept: GcsObject) -> Response:
        asked = request.parameters
        if asked.get("generation", str(kept.generation)) != str(kept.generation):
            return Response(404)
        tag = f'"{hashlib.md5(kept.data, usedforsecurity=False).hexdigest()}"'
        stale = asked.get("ifGenerationMatch", str(kept.generation)) != str(kept.generation)
        if stale or request.headers.get("if-match", tag) != tag:
            return Response(412)
        headers = {"ETag": tag}
        if self.generations:
            headers["x-goog-generation"] = str(kept.generation)
        return ranged(request, kept.data, headers)
