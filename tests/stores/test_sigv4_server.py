"""The server that checks signatures, asked by botocore's own signers."""

import http.client
from urllib.parse import urlsplit

import pytest
from botocore.auth import HmacV1QueryAuth, S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials

from rangeio.testing.sigv4 import Bucket, Credentials, SigV4Server

DATA = b"0123456789"
WHO = Credentials("AK", "SK", "TO/KE+N=")
PATH = "/b/a%252Fb%20c%3D%2B/%C3%BC"


@pytest.fixture
def server():
    objects = {"a%2Fb c=+/ü": DATA}
    buckets = {"b": Bucket(objects=objects), "open": Bucket(objects={"k": DATA}, public=True)}
    with SigV4Server(buckets, credentials=WHO) as running:
        yield running


def ask(server, path, method="GET", **headers):
    host = urlsplit(server.url).netloc
    line = http.client.HTTPConnection(host, timeout=10)
    try:
        line.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        reply = line.getresponse()
        return reply.status, reply.read(), reply.headers
    finally:
        line.close()


def frozen(who=WHO):
    return ReadOnlyCredentials(who.access, who.secret, who.token)


def by_query(server, path=PATH, who=WHO, region="us-east-1", life_s=60):
    request = AWSRequest("GET", server.url + path)
    S3SigV4QueryAuth(frozen(who), "s3", region, expires=life_s).add_auth(request)
    return request.url.removeprefix(server.url)


def test_signatures_in_a_query_and_in_a_header(server):
    assert ask(server, by_query(server))[:2] == (200, DATA)
    request = AWSRequest("GET", server.url + PATH, headers={"Range": "bytes=2-4"})
    S3SigV4Auth(frozen(), "s3", "us-east-1").add_auth(request)
    assert ask(server, PATH, **dict(request.headers.items()))[:2] == (206, b"234")
    assert [r.method for r in server.requests] == ["GET", "GET"]


@pytest.mark.parametrize(
    ("asked", "part", "told"),
    [
        ("bytes=0-0", b"0", "bytes 0-0/10"),
        ("bytes=7-99", b"789", "bytes 7-9/10"),
        ("bytes=-3", b"789", "bytes 7-9/10"),
        ("bytes=-99", DATA, "bytes 0-9/10"),
        ("bytes=4-", b"456789", "bytes 4-9/10"),
    ],
)
def test_ranges(server, asked, part, told):
    status, body, headers = ask(server, "/open/k", Range=asked)
    assert (status, body, headers["Content-Range"]) == (206, part, told)
    assert ask(server, "/open/k", Range="bytes=10-")[0] == 416
    tag = headers["ETag"]
    assert ask(server, "/open/k", If_Match=tag)[0] == 200
    assert ask(server, "/open/k", If_Match='"other"')[0] == 412
    assert ask(server, "/open/k", "HEAD")[:2] == (200, b"")
    assert ask(server, "/open/k", "DELETE")[0] == 405


def test_what_is_refused(server):
    def code(path, **headers):
        status, body, _ = ask(server, path, **headers)
        return status, body.partition(b"<Code>")[2].partition(b"</Code>")[0].decode()

    good = by_query(server)
    assert code(PATH) == (403, "AccessDenied")
    assert code(good.replace("a%252Fb", "a%252Fc")) == (403, "SignatureDoesNotMatch")
    assert code(good + "&x=y") == (403, "SignatureDoesNotMatch")
    assert code(good.replace("X-Amz-Expires=60", "X-Amz-Expires=600")) == (
        403,
        "SignatureDoesNotMatch",
    )
    wrong = Credentials("AK", "no", WHO.token)
    assert code(by_query(server, who=wrong)) == (403, "SignatureDoesNotMatch")
    assert code(by_query(server, who=Credentials("no", "SK", WHO.token)))[1] == "InvalidAccessKeyId"
    assert code(by_query(server, who=Credentials("AK", "SK"))) == (400, "InvalidToken")
    assert code(by_query(server, life_s=700_000))[0] == 400
    assert code(good.replace("aws4_request", "other"))[0] == 400
    assert code("/none/k")[1] == "NoSuchBucket"
    assert code("/open/none")[1] == "NoSuchKey"


def test_old_signatures_are_refused(server):
    request = AWSRequest("GET", server.url + PATH)
    HmacV1QueryAuth(frozen()).add_auth(request)
    assert ask(server, request.url.removeprefix(server.url))[0] == 400


def test_time(server):
    good = by_query(server)
    server.ahead_s = 59 - 2
    assert ask(server, good)[0] == 200
    server.ahead_s = 100
    assert b"Request has expired" in ask(server, good)[1]
    server.ahead_s = -1000
    assert b"RequestTimeTooSkewed" in ask(server, good)[1]


def test_regions(server):
    server.buckets["b"].region = "eu-west-1"
    status, _, headers = ask(server, by_query(server))
    assert (status, headers["x-amz-bucket-region"]) == (301, "eu-west-1")
    server.redirects = False
    status, body, _ = ask(server, by_query(server))
    assert status == 400
    assert b"<Region>eu-west-1</Region>" in body
    assert ask(server, by_query(server, region="eu-west-1"))[0] == 200


def test_rotation(server):
    old = by_query(server)
    fresh = Credentials("AK", "SK2", "T2")
    server.rotate(fresh)
    assert b"ExpiredToken" in ask(server, old)[1]
    assert ask(server, by_query(server, who=fresh))[0] == 200


def test_no_secret_shows(server):
    assert "SK" not in repr(WHO)
    assert "SK" not in repr(server)
