"""An S3 for reads that checks every signature itself."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from rangeio.testing.listener import Listener, Request, Response, ranged

_STAMP = "%Y%m%dT%H%M%SZ"
_WEEK = 7 * 24 * 3600
_SKEW = 900
_CUSTOMER = "x-amz-server-side-encryption-customer-"


@dataclass(frozen=True, slots=True)
class Credentials:
    """An access key, its secret, and the token of a session where there is one."""

    access: str = "ACCESSKEY"
    secret: str = field(default="secretkey", repr=False)
    token: str | None = field(default=None, repr=False)


@dataclass(slots=True)
class Bucket:
    """Objects, their region, and who may read them.

    objects: data by key. versions: data by (key, version id). public: unsigned reads are served.
    payer: the reader must say that it pays. customer_key: base64 of the key that must come along.
    refuses_query: its policy takes no signature in a query.
    """

    region: str = "us-east-1"
    objects: dict[str, bytes] = field(default_factory=dict)
    versions: dict[tuple[str, str], bytes] = field(default_factory=dict)
    public: bool = False
    payer: bool = False
    customer_key: str = field(default="", repr=False)
    refuses_query: bool = False


class _Refused(Exception):
    """Why a request is not served: status, S3's code, and what else the reply tells."""

    def __init__(self, status: int, code: str, words: str = "", region: str = "") -> None:
        super().__init__(code)
        region_line = f"<Region>{region}</Region>" if region else ""
        text = f"<Error><Code>{code}</Code><Message>{words}</Message>{region_line}</Error>"
        headers = {"Content-Type": "application/xml"}
        if status == 301:
            headers["x-amz-bucket-region"] = region
        self.response = Response(status, headers, text.encode())


class SigV4Server(Listener):
    """Buckets at ``/bucket/key``, read with version 4 signatures in the query or in a header.

    credentials: who may read; :meth:`rotate` changes them. redirects: a wrong region is answered
    by 301 and the region in a header, else by 400 and the region in the text. ahead_s: seconds
    that the server's clock is ahead of ours.
    """

    def __init__(
        self,
        buckets: Mapping[str, Bucket],
        *,
        credentials: Credentials | None = None,
        redirects: bool = True,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(tls=tls)
        self.buckets = dict(buckets)
        self.credentials = credentials or Credentials()
        self.redirects = redirects
        self.ahead_s = 0.0
        self._expired: set[str] = set()

    def rotate(self, credentials: Credentials) -> None:
        """From now on only ``credentials`` are good; the token before them is an expired one."""
        if self.credentials.token is not None:
            self._expired.add(self.credentials.token)
        self.credentials = credentials

    def answer(self, request: Request) -> Response:
        """The object, or an S3 error document."""
        try:
            return self._object(request)
        except _Refused as refused:
            return refused.response

    def _object(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            raise _Refused(405, "MethodNotAllowed")
        name, _, key = request.name.removeprefix("/").partition("/")
        bucket = self.buckets.get(name)
        if bucket is None:
            raise _Refused(404, "NoSuchBucket")
        if not bucket.public:
            self._admit(request, bucket)
        _conditions(request, bucket)
        body = _body(request, bucket, key)
        tag = f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'
        if request.headers.get("if-match", tag) != tag:
            raise _Refused(412, "PreconditionFailed")
        return ranged(request, body, {"ETag": tag})

    def _admit(self, request: Request, bucket: Bucket) -> None:
        claim = _claim(request)
        if claim.in_query and bucket.refuses_query:
            raise _Refused(403, "AccessDenied", "denied by s3:authType: no query string auth")
        if claim.token in self._expired:
            raise _Refused(400, "ExpiredToken", "The provided token has expired.")
        if claim.access != self.credentials.access:
            raise _Refused(403, "InvalidAccessKeyId")
        if claim.token != (self.credentials.token or ""):
            raise _Refused(400, "InvalidToken")
        if claim.region != bucket.region:
            self._elsewhere(bucket.region)
        self._in_time(claim)
        want = claim.sign(request, self.credentials.secret)
        if not hmac.compare_digest(want.encode(), claim.signature.encode()):
            raise _Refused(403, "SignatureDoesNotMatch")

    def _elsewhere(self, region: str) -> None:
        if self.redirects:
            raise _Refused(301, "PermanentRedirect", region=region)
        raise _Refused(400, "AuthorizationHeaderMalformed", f"expecting '{region}'", region)

    def _in_time(self, claim: _Claim) -> None:
        signed = datetime.datetime.strptime(claim.stamp, _STAMP).replace(tzinfo=datetime.UTC)
        age = (datetime.datetime.now(datetime.UTC) - signed).total_seconds() + self.ahead_s
        if age < -_SKEW:
            raise _Refused(403, "RequestTimeTooSkewed")
        if age > claim.life_s:
            raise _Refused(403, "AccessDenied", "Request has expired")


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a request says of itself, before any of it is checked."""

    access: str
    date: str
    region: str
    stamp: str
    life_s: int
    token: str
    signed_headers: str
    signature: str
    payload: str
    in_query: bool

    def sign(self, request: Request, secret: str) -> str:
        """The signature that the request should carry."""
        names = self.signed_headers.split(";")
        lines = [f"{n}:{' '.join(request.headers.get(n, '').split())}\n" for n in names]
        canonical = "\n".join(
            (
                request.method,
                _encode(request.name, "/"),
                _query(request),
                "".join(lines),
                self.signed_headers,
                self.payload,
            )
        )
        scope = f"{self.date}/{self.region}/s3/aws4_request"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = f"AWS4-HMAC-SHA256\n{self.stamp}\n{scope}\n{digest}"
        key = f"AWS4{secret}".encode()
        for part in (self.date, self.region, "s3", "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _claim(request: Request) -> _Claim:
    """What the request claims; refuses what is unsigned, signed otherwise, or incomplete."""
    query = request.parameters
    header = request.headers.get("authorization", "")
    try:
        if query.get("X-Amz-Algorithm") == "AWS4-HMAC-SHA256":
            return _claim_of_query(query)
        if header.startswith("AWS4-HMAC-SHA256 "):
            return _claim_of_header(header, request.headers)
    except (KeyError, ValueError):
        raise _Refused(400, "AuthorizationQueryParametersError") from None
    if "AWSAccessKeyId" in query or header.startswith("AWS "):
        raise _Refused(400, "InvalidRequest", "Please use AWS4-HMAC-SHA256.")
    raise _Refused(403, "AccessDenied")


def _claim_of_query(query: Mapping[str, str]) -> _Claim:
    access, date, region, service, end = query["X-Amz-Credential"].rsplit("/", 4)
    life_s = int(query["X-Amz-Expires"])
    if (service, end) != ("s3", "aws4_request") or not 0 < life_s <= _WEEK:
        raise ValueError
    return _Claim(
        access, date, region, query["X-Amz-Date"], life_s, query.get("X-Amz-Security-Token", ""),
        query["X-Amz-SignedHeaders"], query["X-Amz-Signature"], "UNSIGNED-PAYLOAD", True,
    )  # fmt: skip


def _claim_of_header(line: str, headers: Mapping[str, str]) -> _Claim:
    parts = dict(part.strip().split("=", 1) for part in line.partition(" ")[2].split(","))
    access, date, region, service, end = parts["Credential"].rsplit("/", 4)
    if (service, end) != ("s3", "aws4_request"):
        raise ValueError
    return _Claim(
        access, date, region, headers["x-amz-date"], _SKEW,
        headers.get("x-amz-security-token", ""), parts["SignedHeaders"], parts["Signature"],
        headers["x-amz-content-sha256"], False,
    )  # fmt: skip


def _conditions(request: Request, bucket: Bucket) -> None:
    if bucket.payer and request.headers.get("x-amz-request-payer") != "requester":
        raise _Refused(403, "AccessDenied")
    if bucket.customer_key and (
        request.headers.get(f"{_CUSTOMER}algorithm") != "AES256"
        or request.headers.get(f"{_CUSTOMER}key") != bucket.customer_key
    ):
        raise _Refused(400, "InvalidRequest", "The object was stored using a customer's key.")


def _body(request: Request, bucket: Bucket, key: str) -> bytes:
    version = request.parameters.get("versionId")
    if version is not None:
        if (key, version) not in bucket.versions:
            raise _Refused(404, "NoSuchVersion")
        return bucket.versions[key, version]
    if key not in bucket.objects:
        raise _Refused(404, "NoSuchKey")
    return bucket.objects[key]


def _query(request: Request) -> str:
    """The canonical query: encoded anew and sorted, without the signature."""
    pairs = sorted(
        (_encode(name), _encode(value))
        for name, value in request.parameters.items()
        if name != "X-Amz-Signature"
    )
    return "&".join(f"{name}={value}" for name, value in pairs)


def _encode(text: str, keep: str = "") -> str:
    return quote(text, safe=f"-_.~{keep}")
