"""S3 over signed urls, against a server that checks every signature itself."""

import asyncio
import base64
import os
import pickle
import ssl

import pytest
from served import drain, read, refused

from rangeio.errors import Denied, NotFound, ObjectChanged, RequestError, StoreError, Unreachable
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.address import resolve
from rangeio.stores.s3 import S3Store
from rangeio.stores.signing import Keys, presign
from rangeio.testing.sigv4 import Bucket, Credentials, SigV4Server

DATA = bytes(range(256)) * 40
ODD = [
    "a%2Fb",
    "a b c",
    "a=b+c&d",
    "ünï/çødé",
    "what?is#this",
    "a//b",
    "/lead",
    "../up/./x",
    "trail/",
    "a:b@c,d;e!f$g'h(i)*j~k|l\\m\"n<o>",
    "%",
]
WHO = Credentials("ACCESSKEY", "secretkey")


@pytest.fixture(autouse=True)
def _no_credentials_of_the_machine(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


def options(server, who=WHO, **more):
    given = {"key": who.access, "secret": who.secret, "token": who.token}
    return {**given, "endpoint_url": server.url, **more}


def serve(bucket=None, **more):
    return SigV4Server({"b": bucket or Bucket(objects={"k": DATA})}, **more)


def test_ranges_and_suffixes_with_one_signature():
    with serve() as server:
        asks = [("b/k", ByteRange(5, 300)), ("b/k", Suffix(7)), ("b/k", Suffix(10**6))]
        assert read(S3Store(options(server)), *asks) == [DATA[5:300], DATA[-7:], DATA]
        assert len(server.requests) == 3
        assert len({r.query for r in server.requests}) == 1
        assert all("authorization" not in r.headers for r in server.requests)


def test_the_head_tells_size_and_tag():
    async def head(store):
        reply = await store.get("b/k", ByteRange(5, 10))
        await drain(reply)
        late = await store.get("b/k", ByteRange(len(DATA) + 5, len(DATA) + 6))
        await store.close()
        return reply, late

    with serve() as server:
        reply, late = asyncio.run(head(S3Store(options(server))))
    assert (reply.status, reply.at, reply.total, reply.size) == (
        206,
        ByteRange(5, 10),
        len(DATA),
        5,
    )
    assert reply.tag.startswith('"')
    assert (late.status, late.at, late.total) == (416, None, len(DATA))


@pytest.mark.parametrize("by_client", [False, True])
def test_keys_are_taken_as_they_are(by_client):
    objects = {key: key.encode() for key in ODD}
    with serve(Bucket(objects=objects)) as server:
        stores = {}
        given = options(server, query_auth=not by_client)
        found = [resolve(f"s3://b/{key}", given, stores=stores) for key in ODD]
        (store,) = stores.values()
        asks = [(name, Suffix(99)) for _, name, _, _ in found]
        assert read(store, *asks) == [key.encode() for key in ODD]


@pytest.mark.parametrize("by_client", [False, True])
def test_a_changed_object_is_refused_by_its_tag(by_client):
    with serve() as server:
        error = refused(S3Store(options(server, query_auth=not by_client)), if_match='"stale"')
    assert isinstance(error, ObjectChanged)
    assert error.status == 412
    assert error.url == "s3://b/k"


@pytest.mark.parametrize("by_client", [False, True])
def test_versions(by_client):
    bucket = Bucket(objects={"k": DATA}, versions={("k", "v/1+="): b"old bytes"})
    with serve(bucket) as server:
        store = S3Store(options(server, query_auth=not by_client))
        assert read(store, ("b/k?versionId=v/1+=", Suffix(5)), ("b/k", Suffix(5))) == [
            b"bytes",
            DATA[-5:],
        ]
        error = refused(S3Store(options(server)), "b/k?versionId=no")
        assert isinstance(error, NotFound)
        assert "NoSuchVersion" in str(error)


def test_session_tokens_ride_along():
    who = Credentials("AK", "SK", "a/token+with=odd&signs")
    with serve(credentials=who) as server:
        assert read(S3Store(options(server, who)), ("b/k", Suffix(3))) == [DATA[-3:]]


def test_a_public_bucket_without_credentials():
    with serve(Bucket(objects={"k": DATA}, public=True)) as server:
        store = S3Store({"anon": True, "endpoint_url": server.url})
        assert read(store, ("b/k", Suffix(3))) == [DATA[-3:]]
        assert server.requests[0].query == ""


@pytest.mark.parametrize("redirects", [True, False])
@pytest.mark.parametrize("by_client", [False, True])
def test_a_wrong_region_is_corrected_once_and_remembered(redirects, by_client):
    bucket = Bucket(region="eu-west-1", objects={"k": DATA, "l": DATA})
    with serve(bucket, redirects=redirects) as server:
        store = S3Store(options(server, query_auth=not by_client))
        got = read(store, ("b/k", Suffix(3)), ("b/l", Suffix(3)))
        assert got == [DATA[-3:], DATA[-3:]]
        if not by_client:
            assert len(server.requests) == 3


def test_a_region_that_is_told_is_used():
    with serve(Bucket(region="eu-west-1", objects={"k": DATA})) as server:
        given = options(server, client_kwargs={"region_name": "eu-west-1"})
        assert read(S3Store(given), ("b/k", Suffix(3))) == [DATA[-3:]]
        assert len(server.requests) == 1


def test_a_region_that_moves_forever_ends():
    bucket = Bucket(region="eu-west-1", objects={"k": DATA})
    with serve(bucket) as server:
        answer = server.answer

        def flee(request):
            bucket.region = "ap-south-1" if bucket.region == "eu-west-1" else "eu-west-1"
            return answer(request)

        server.answer = flee
        error = refused(S3Store(options(server)))
        assert "another region" in str(error)
        assert len(server.requests) == 2


def test_a_region_that_is_no_name_is_not_believed():
    with serve(Bucket(region="evil.example/x", objects={"k": DATA})) as server:
        error = refused(S3Store(options(server)))
        assert "another region" in str(error)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("who", "words"),
    [
        (Credentials("ACCESSKEY", "canary-wrong"), "the secret key is wrong"),
        (Credentials("canary-nobody", "x"), "the access key is not known"),
        (Credentials("ACCESSKEY", "secretkey", "canary-token"), "the session token is not good"),
    ],
)
@pytest.mark.parametrize("by_client", [False, True])
def test_bad_credentials_are_denied_in_one_line(who, words, by_client):
    with serve() as server:
        error = refused(S3Store(options(server, who, query_auth=not by_client)))
        assert isinstance(error, Denied)
        assert words in str(error)
        assert str(error).startswith("s3://b/k[-4:]: access denied: ")
        assert error.status in (400, 403)
        assert len(server.requests) == 2  # signed again once, no more
        assert "canary" not in f"{error!r}{error}{pickle.dumps(error)}"


@pytest.mark.parametrize("by_client", [False, True])
def test_what_is_missing_is_said(by_client):
    with serve() as server:
        given = options(server, query_auth=not by_client)
        key, bucket = refused(S3Store(given), "b/none"), refused(S3Store(given), "none/k")
    assert isinstance(key, NotFound)
    assert "no such object" in str(key)
    assert isinstance(bucket, NotFound)
    assert "no such bucket" in str(bucket)


def test_a_private_object_without_credentials():
    with serve() as server:
        error = refused(S3Store({"anon": True, "endpoint_url": server.url}))
        assert isinstance(error, Denied)
        assert "not public: pass key and secret" in str(error)
        assert len(server.requests) == 1
        error = refused(S3Store({"endpoint_url": server.url}))
        assert isinstance(error, Denied)
        assert "no credentials were found" in str(error)


def profile(tmp_path, who):
    token = f"aws_session_token={who.token}\n" if who.token else ""
    (tmp_path / "credentials").write_text(
        f"[default]\naws_access_key_id={who.access}\naws_secret_access_key={who.secret}\n{token}"
    )


@pytest.mark.parametrize("by_client", [False, True])
def test_credentials_that_expire_mid_life_are_looked_up_again(tmp_path, by_client):
    first, second = Credentials("AK", "s1", "t1"), Credentials("AK2", "s2", "t2")
    profile(tmp_path, first)
    with serve(credentials=first) as server:

        def rotate():
            server.rotate(second)
            profile(tmp_path, second)

        store = S3Store({"endpoint_url": server.url, "query_auth": not by_client})
        asks = [("b/k", ByteRange(i, i + 9)) for i in range(4)]
        assert read(store, *asks, between=rotate) == [DATA[i : i + 9] for i in range(4)]
        assert len(server.requests) == 5


def test_credentials_that_expired_for_good_are_denied(tmp_path):
    first = Credentials("AK", "s1", "t1")
    profile(tmp_path, first)
    with serve(credentials=first) as server:
        server.rotate(Credentials("AK", "s1", "t2"))
        error = refused(S3Store({"endpoint_url": server.url}))
        assert "the credentials have expired" in str(error)
        assert len(server.requests) == 2


def test_a_url_does_not_outlive_its_credentials():
    import datetime

    from aiobotocore.credentials import AioRefreshableCredentials
    from aiobotocore.session import AioSession

    who = Credentials("AK", "s", "t")
    ends = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=1200)
    told = {
        "access_key": who.access,
        "secret_key": who.secret,
        "token": who.token,
        "expiry_time": ends.isoformat(),
    }

    async def never():
        raise AssertionError("refreshed although good for long")

    with serve(credentials=who) as server:
        session = AioSession()
        session._credentials = AioRefreshableCredentials.create_from_metadata(
            told, refresh_using=never, method="test"
        )
        store = S3Store({"endpoint_url": server.url, "session": session})
        assert read(store, ("b/k", Suffix(3))) == [DATA[-3:]]
        assert 1000 <= int(server.requests[-1].parameters["X-Amz-Expires"]) <= 1200


def test_lives_of_signatures():
    url = "https://b.s3.eu-west-1.amazonaws.com/k"
    plain = presign(url, Keys("a", "s"), "eu-west-1", 1000.0, 3600)
    assert "X-Amz-Expires=3600" in plain.url
    assert plain.until == 1000 + 3600 - 300
    assert "X-Amz-Expires=604800" in presign(url, Keys("a", "s"), "r", 0.0, 10**9).url
    short = presign(url, Keys("a", "s", "t", expires=1060.0), "r", 1000.0, 3600)
    assert "X-Amz-Expires=60" in short.url
    assert short.until == 1048
    assert presign(url, None, "r", 0.0, 3600).url == url
    assert "X-Amz-Date=19700101T001640Z" in plain.url


def test_a_url_is_signed_anew_before_it_expires():
    with serve() as server:
        store = S3Store(options(server, url_life_s=2))

        async def go():
            await drain(await store.get("b/k", Suffix(3)))
            (signed,) = store._bound.signed.values()
            store._bound.signed["b/k"] = type(signed)(signed.url, 0.0, signed.region, signed.keys)
            await drain(await store.get("b/k", Suffix(3)))
            (again,) = store._bound.signed.values()
            await store.close()
            return again.until

        assert asyncio.run(go()) > 0
        assert server.requests[0].parameters["X-Amz-Expires"] == "2"


def test_a_clock_that_is_off_is_named():
    with serve() as server:
        server.ahead_s = -3000
        assert "clock is off" in str(refused(S3Store(options(server))))
        server.ahead_s = 100_000
        assert "access denied" in str(refused(S3Store(options(server))))


CUSTOMER = base64.b64encode(b"k" * 32).decode()


def test_customer_keys_ride_in_headers():
    with serve(Bucket(objects={"k": DATA}, customer_key=CUSTOMER)) as server:
        extra = {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": b"k" * 32}
        given = options(server, s3_additional_kwargs=extra)
        got = read(S3Store(given), ("b/k", ByteRange(3, 9)), ("b/k", Suffix(4)))
        assert got == [DATA[3:9], DATA[-4:]]
        assert all("X-Amz-Signature" not in r.query for r in server.requests)
        assert refused(S3Store(options(server))).status == 400


def test_the_reader_pays():
    with serve(Bucket(objects={"k": DATA}, payer=True)) as server:
        given = options(server, requester_pays=True)
        assert read(S3Store(given), ("b/k", Suffix(4))) == [DATA[-4:]]
        assert isinstance(refused(S3Store(options(server))), Denied)


def test_a_policy_against_signed_urls_is_learnt():
    with serve(Bucket(objects={"k": DATA, "l": DATA}, refuses_query=True)) as server:
        got = read(S3Store(options(server)), ("b/k", Suffix(4)), ("b/l", Suffix(4)))
        assert got == [DATA[-4:], DATA[-4:]]
        assert ["X-Amz-Signature" in r.query for r in server.requests] == [True, False, False]


def test_the_client_answers_as_the_url_does():
    async def both(server):
        one, two = S3Store(options(server)), S3Store(options(server, query_auth=False))
        out = []
        for at in (ByteRange(0, 9), Suffix(5), ByteRange(10**6, 10**6 + 1)):
            replies = [await s.get("b/k", at) for s in (one, two)]
            bodies = [await drain(r) for r in replies]
            out.append([(r.status, r.at, r.total, r.tag, r.size, r.whole) for r in replies])
            assert bodies[0] == bodies[1]
        await one.close()
        await two.close()
        return out

    with serve() as server:
        for by_url, by_client in asyncio.run(both(server)):
            # botocore tells no size of a refused range's body.
            assert by_url[:3] == by_client[:3]
            assert by_url[0] == 416 or by_url == by_client


def test_the_client_retries_nothing():
    with serve() as server:
        from rangeio.testing.listener import Response

        server.answer = lambda _: Response(503, {}, b"<Error><Code>SlowDown</Code></Error>")
        error = refused(S3Store(options(server, query_auth=False)))
        assert (error.status, len(server.requests)) == (503, 1)
        assert error.transient


@pytest.mark.parametrize("by_client", [False, True])
def test_a_server_that_is_not_there(by_client):
    with serve() as server:
        given = options(server, query_auth=not by_client)
    assert isinstance(refused(S3Store(given)), Unreachable)


@pytest.fixture
def authority(tmp_path):
    import datetime
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (tmp_path / "ca.pem").write_bytes(made.public_bytes(pem))
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "ca.pem", tmp_path / "key.pem")
    return str(tmp_path / "ca.pem"), context


@pytest.mark.parametrize("by_client", [False, True])
def test_tls_is_verified_as_told(authority, by_client, monkeypatch):
    ca, context = authority
    with serve(tls=context) as server:
        more = {"query_auth": not by_client}
        unknown = refused(S3Store(options(server, **more)))
        assert isinstance(unknown, Unreachable)
        assert not unknown.transient
        for verify in (ca, False):
            store = S3Store(options(server, client_kwargs={"verify": verify}, **more))
            assert read(store, ("b/k", Suffix(3))) == [DATA[-3:]]
        monkeypatch.setenv("AWS_CA_BUNDLE", ca)
        assert read(S3Store(options(server, **more)), ("b/k", Suffix(3))) == [DATA[-3:]]


def test_settings_of_the_client_carry_over(monkeypatch, authority):
    async def connect(**given):
        store = S3Store({"key": "a", "secret": "b", **given})
        bound = await store._bind()
        made = bound.http and bound.http._connect
        await store.close()
        return made

    def of(**given):
        return asyncio.run(connect(**given))

    assert of().verify
    assert of().connect_s == 5
    assert of().proxy is None
    assert not of(client_kwargs={"verify": False}).verify
    assert of(config_kwargs={"connect_timeout": 3}).connect_s == 3
    proxies = {"https": "proxy.example:3128", "http": "http://other"}
    assert of(config_kwargs={"proxies": proxies}).proxy == "http://proxy.example:3128"
    plain = {"endpoint_url": "http://h:1", "config_kwargs": {"proxies": proxies}}
    assert of(**plain).proxy == "http://other"
    assert of(config_kwargs={"client_cert": ("c.pem", "k.pem")}).key_file == "k.pem"
    assert (
        of(config_kwargs={"proxies": proxies, "proxies_config": {"proxy_ca_bundle": "x"}}) is None
    )
    monkeypatch.setenv("HTTPS_PROXY", "http://env:1")
    assert of().proxy == "http://env:1"
    assert of(config_kwargs={"proxies": {}}).proxy is None
    monkeypatch.setenv("NO_PROXY", "amazonaws.com")
    assert of().proxy is None


@pytest.mark.parametrize(
    ("given", "region", "root"),
    [
        ({}, "us-east-1", "https://buck.s3.us-east-1.amazonaws.com/"),
        ({}, "eu-west-1", "https://buck.s3.eu-west-1.amazonaws.com/"),
        ({"anon": True}, "eu-west-1", "https://buck.s3.eu-west-1.amazonaws.com/"),
        (
            {"config_kwargs": {"s3": {"addressing_style": "path"}}},
            "ap-south-2",
            "https://s3.ap-south-2.amazonaws.com/buck/",
        ),
        (
            {"config_kwargs": {"s3": {"use_dualstack_endpoint": True}}},
            "eu-west-1",
            "https://buck.s3.dualstack.eu-west-1.amazonaws.com/",
        ),
        ({"use_ssl": False}, "us-east-1", "http://buck.s3.us-east-1.amazonaws.com/"),
        ({"endpoint_url": "http://h:9/pre"}, "eu-west-1", "http://h:9/pre/buck/"),
        (
            {
                "endpoint_url": "https://h:9",
                "config_kwargs": {"s3": {"addressing_style": "virtual"}},
            },
            "eu-west-1",
            "https://buck.h:9/",
        ),
        (
            {"config_kwargs": {"signature_version": "s3"}},
            "eu-west-1",
            "https://buck.s3.eu-west-1.amazonaws.com/",
        ),
    ],
)
def test_the_host_is_the_regions(given, region, root):
    async def ask():
        from rangeio.stores.account import Account

        account = Account({"key": "a", "secret": "b", **given})
        try:
            return await account.root("buck", region)
        finally:
            await account.close()

    assert asyncio.run(ask()) == root


ARN = "arn:aws:s3:eu-west-1:123456789012:accesspoint"


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("b/k/l", ("b", "k/l", "")),
        ("b/k?x?versionId=1", ("b", "k?x", "1")),
        (f"{ARN}/p/k/l", (f"{ARN}/p", "k/l", "")),
        (f"{ARN}:p/k", (f"{ARN}:p", "k", "")),
        ("arn:aws:s3::123456789012:accesspoint:a.mrap/k", (
            "arn:aws:s3::123456789012:accesspoint:a.mrap", "k", "")),
        ("arn:aws:s3-outposts:r:123456789012:outpost/op-1/accesspoint/p/k/l", (
            "arn:aws:s3-outposts:r:123456789012:outpost/op-1/accesspoint/p", "k/l", "")),
    ],
)  # fmt: skip
def test_buckets_and_keys(key, parts):
    from rangeio.stores.s3 import _split

    assert _split(key) == parts


def test_an_s3fs_at_hand():
    import s3fs

    with serve() as server:
        fs = s3fs.S3FileSystem(**options(server), skip_instance_cache=True)
        store, key, url, profile = resolve("b/k", filesystem=fs)
        assert (key, url, profile) == ("b/k", "s3://b/k", "s3")
        assert read(store, (key, Suffix(3))) == [DATA[-3:]]
        assert fs._s3 is None  # the caller's own was not touched


def test_a_store_serves_another_loop_after_this_one():
    with serve() as server:
        store = S3Store(options(server))
        assert read(store, ("b/k", Suffix(3))) == read(store, ("b/k", Suffix(3)))


FORKED = """
import asyncio, os, sys
from rangeio.ranges import Suffix
from rangeio.stores.s3 import S3Store
from rangeio.testing.sigv4 import Bucket, SigV4Server

async def read(store):
    reply = await store.get("b/k", Suffix(4))
    into = memoryview(bytearray(9))
    got = await reply.body.receive(into)
    reply.body.close(reuse=False)
    return bytes(into[:got])

with SigV4Server({"b": Bucket(objects={"k": b"0123456789"})}) as server:
    store = S3Store({"key": "ACCESSKEY", "secret": "secretkey", "endpoint_url": server.url})
    loop = asyncio.new_event_loop()
    parent = loop.run_until_complete(read(store))
    child = os.fork()
    if not child:
        os._exit(0 if asyncio.run(read(store)) == b"6789" else 1)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    again = loop.run_until_complete(read(store))
    loop.run_until_complete(store.close())
    loop.close()
print(parent == again == b"6789", ended)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_nothing_crosses_a_fork():
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["True", "0"], done.stderr


def test_many_at_once_set_up_once():
    async def go(store):
        replies = await asyncio.gather(*(store.get("b/k", ByteRange(i, i + 5)) for i in range(50)))
        out = [await drain(reply) for reply in replies]
        await store.close()
        return out

    with serve() as server:
        assert asyncio.run(go(S3Store(options(server)))) == [DATA[i : i + 5] for i in range(50)]
        assert len({r.query for r in server.requests}) == 1


def test_options_that_cannot_be():
    async def go(given):
        store = S3Store(given)
        try:
            await store.get("b/k", Suffix(1))
        finally:
            await store.close()

    with pytest.raises(RequestError, match="do not fit s3fs"):
        asyncio.run(go({"key": "a", "username": "b"}))
    with pytest.raises((RequestError, Denied), match="profile"):
        asyncio.run(go({"profile": "nosuch"}))


def test_no_secret_shows_anywhere(caplog):
    caplog.set_level("DEBUG")
    who = Credentials("CANARY-access", "CANARY-secret", "CANARY-token")
    with serve(credentials=who) as server:
        store = S3Store(options(server, who))

        async def go():
            texts = []
            await drain(await store.get("b/k", Suffix(3)))
            bound = store._bound
            texts += [repr(x) for x in (store, bound, bound.account, bound.http)]
            texts += [repr(s) for s in bound.signed.values()]
            server.rotate(Credentials("other", "x"))
            for key in ("b/k", "b/none", "none/k"):
                try:
                    await store.get(key, Suffix(3))
                except StoreError as error:
                    texts += [repr(error), str(error), repr(pickle.dumps(error))]
                    texts += [repr(pickle.loads(pickle.dumps(error)).__dict__)]
            await store.close()
            return texts

        texts = "\n".join([*asyncio.run(go()), caplog.text])
        assert "CANARY" not in texts
        assert "X-Amz" not in texts
    with pytest.raises(TypeError):
        pickle.dumps(store)
