"""Google Cloud Storage over the media url, against a server that checks tokens and generations."""

import asyncio
import pickle

import google.auth.credentials
import google.auth.exceptions
import pytest
from served import drain, read, refused

from rangeio.errors import Denied, NotFound, ObjectChanged, RequestError
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.address import resolve
from rangeio.stores.fsspec import FsspecStore
from rangeio.stores.gcs import GcsStore
from rangeio.testing.gcs import GcsBucket, GcsObject, GcsServer

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
    "a#1b",
]


class Token(google.auth.credentials.Credentials):
    """Hands out the next of its tokens at each refresh."""

    def __init__(self, *tokens):
        super().__init__()
        self.token, *self.left = tokens
        self.refreshed = 0

    def refresh(self, request):
        self.refreshed += 1
        if not self.left:
            raise google.auth.exceptions.RefreshError("CANARY nothing left")
        self.token = self.left.pop(0)


def serve(objects=None, *, public=False, payer=False, **more):
    kept = objects or {"k": GcsObject(DATA, 7)}
    return GcsServer({"b": GcsBucket(kept, public=public, payer=payer)}, **more)


def options(server, *tokens, **more):
    return {"token": Token(*tokens or ("token",)), "endpoint_url": server.url, **more}


def test_ranges_suffixes_and_the_head():
    async def go(store):
        reply = await store.get("b/k", ByteRange(5, 10))
        assert await drain(reply) == DATA[5:10]
        late = await store.get("b/k", ByteRange(10**6, 10**6 + 1))
        await store.close()
        return reply, late

    with serve() as server:
        asks = [("b/k", ByteRange(5, 300)), ("b/k", Suffix(7)), ("b/k", Suffix(10**6))]
        assert read(GcsStore(options(server)), *asks) == [DATA[5:300], DATA[-7:], DATA]
        assert len(server.requests) == 3
        assert all(r.path.startswith("/download/storage/v1/b/b/o/") for r in server.requests)
        reply, late = asyncio.run(go(GcsStore(options(server))))
    assert (reply.status, reply.at, reply.total, reply.tag) == (
        206,
        ByteRange(5, 10),
        len(DATA),
        "7",
    )
    assert (late.status, late.total) == (416, len(DATA))


@pytest.mark.parametrize("name", ODD)
def test_names_are_taken_as_they_are(name):
    with serve({name: GcsObject(DATA)}) as server:
        assert read(GcsStore(options(server)), (f"b/{name}", Suffix(9))) == [DATA[-9:]]
        store, key, _, profile = resolve(f"gs://b/{name}", options(server))
        assert profile == "gs"
        assert read(store, (key, Suffix(9))) == [DATA[-9:]]


def test_the_generation_pins():
    with serve() as server:
        kept = server.buckets["b"].objects["k"]
        assert read(
            GcsStore(options(server)), ("b/k#7", Suffix(3)), ("b/k?generation=7", Suffix(3))
        )
        error = refused(GcsStore(options(server)), if_match="6")
        assert isinstance(error, ObjectChanged)
        assert server.requests[-1].parameters["ifGenerationMatch"] == "6"
        kept.generation = 8
        assert isinstance(refused(GcsStore(options(server)), "b/k#7"), NotFound)


def test_the_etag_pins_where_no_generation_is_told():
    async def go(store):
        tag = (await store.get("b/k", Suffix(3))).tag
        again = await store.get("b/k", Suffix(3), if_match=tag)
        try:
            await store.get("b/k", Suffix(3), if_match='"stale"')
        except ObjectChanged as error:
            return tag, await drain(again), error.status
        finally:
            await store.close()

    with serve(generations=False) as server:
        tag, data, status = asyncio.run(go(GcsStore(options(server))))
    assert tag.startswith('"')
    assert (data, status) == (DATA[-3:], 412)


def test_a_token_that_expires_mid_life_is_refreshed_once():
    with serve(token="t1") as server:
        given = options(server, "t1", "t2")

        def rotate():
            server.token = "t2"

        asks = [("b/k", ByteRange(i, i + 9)) for i in range(4)]
        got = read(GcsStore(given), *asks, between=rotate)
        assert got == [DATA[i : i + 9] for i in range(4)]
        assert given["token"].refreshed == 1
        assert len(server.requests) == 5


def test_many_refused_at_once_refresh_once():
    async def go(store):
        replies = await asyncio.gather(*(store.get("b/k", ByteRange(i, i + 5)) for i in range(20)))
        out = [await drain(reply) for reply in replies]
        await store.close()
        return out

    with serve(token="t2") as server:
        given = options(server, "t1", "t2")
        assert asyncio.run(go(GcsStore(given))) == [DATA[i : i + 5] for i in range(20)]
        assert given["token"].refreshed == 1


def test_refusals_are_said_in_one_line():
    with serve(token="other") as server:
        dead = refused(GcsStore(options(server, "CANARY1")))
        wrong = refused(GcsStore(options(server, "CANARY1", "CANARY2")))
        anonymous = refused(GcsStore(options(server) | {"token": "anon"}))
        server.token, server.readers = "token", False
        forbidden = refused(GcsStore(options(server)))
        server.readers = True
        missing = refused(GcsStore(options(server)), "b/none")
        bucket = refused(GcsStore(options(server)), "none/k")
    assert "cannot be refreshed: RefreshError" in str(dead)
    assert "the token is not good: HTTP 401" in str(wrong)
    assert "not public: pass a token" in str(anonymous)
    assert {type(e) for e in (dead, wrong, anonymous, forbidden)} == {Denied}
    assert {type(e) for e in (missing, bucket)} == {NotFound}
    assert missing.url == "gs://b/none"
    assert "CANARY" not in "".join(f"{e!r}{e}{pickle.dumps(e)}" for e in (dead, wrong))


def test_a_public_object_needs_no_token():
    with serve(public=True) as server:
        store = GcsStore(options(server) | {"token": "anon"})
        assert read(store, ("b/k", Suffix(3))) == [DATA[-3:]]
        assert "authorization" not in server.requests[0].headers


def test_the_reader_pays():
    with serve(payer=True) as server:
        given = options(server, requester_pays="my-project")
        assert read(GcsStore(given), ("b/k", Suffix(3))) == [DATA[-3:]]
        assert server.requests[0].parameters["userProject"] == "my-project"
        given = options(server, requester_pays=True, project="own")
        assert read(GcsStore(given), ("b/k", Suffix(3))) == [DATA[-3:]]
        assert "requester_pays=<project>" in str(refused(GcsStore(options(server))))


def test_a_gcsfs_at_hand():
    from gcsfs.core import GCSFileSystem

    with serve() as server:
        fs = GCSFileSystem(**options(server), skip_instance_cache=True)
        store, key, url, _ = resolve("b/k", filesystem=fs)
        assert (key, url) == ("b/k", "gs://b/k")
        assert isinstance(store, GcsStore)
        assert read(store, (key, Suffix(3))) == [DATA[-3:]]
        assert fs._session is None  # the caller's own was not touched


def test_settings_of_the_session():
    async def connect(**session):
        store = GcsStore({"token": "anon", "session_kwargs": session})
        bound = await store._bind()
        await store.close()
        return bound.http._connect, bound.root

    made, root = asyncio.run(connect(proxy="http://p:1"))
    assert made.proxy == "http://p:1"
    assert root == "https://storage.googleapis.com/download/storage/v1/b/"
    odd = resolve("gs://b/k", {"token": "anon", "session_kwargs": {"connector": object()}})
    assert isinstance(odd[0], FsspecStore)


def test_options_that_cannot_be():
    async def go(given):
        await GcsStore(given).get("b/k", Suffix(1))

    with pytest.raises(RequestError, match="no usable credentials"):
        asyncio.run(go({"access": "nosuch", "token": "anon"}))
    with pytest.raises(RequestError, match="no usable credentials"):
        asyncio.run(go({"token": 3}))


def test_no_secret_shows():
    with serve(token="CANARY") as server:
        store = GcsStore(options(server, "CANARY"))

        async def go():
            await drain(await store.get("b/k", Suffix(3)))
            bound = store._bound
            texts = [repr(store), repr(bound), repr(bound.http)]
            await store.close()
            return "".join(texts)

        assert "CANARY" not in asyncio.run(go())
    with pytest.raises(TypeError):
        pickle.dumps(store)
