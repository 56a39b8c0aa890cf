"""The S3 store against LocalStack: an S3 that others wrote, with versions and conditions."""

import asyncio
import os
import uuid

import pytest

from rangeio.errors import NotFound, ObjectChanged
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.address import resolve

ENDPOINT = os.environ.get("RANGEIO_LOCALSTACK", "")
pytestmark = [
    pytest.mark.localstack,
    pytest.mark.skipif(not ENDPOINT, reason="RANGEIO_LOCALSTACK is not set: make test-localstack"),
]
DATA = bytes(range(256)) * 40
KEYS = ["k", "a b/c=d+e", "p%2Fq", "ü?#", "a//b", "x:y@z,;!$&'()*~"]
REGION = "eu-central-1"
WAYS = pytest.mark.parametrize("query_auth", [True, False], ids=["url", "client"])


@pytest.fixture(scope="module")
def client():
    import botocore.session

    made = botocore.session.Session().create_client(
        "s3",
        region_name=REGION,
        endpoint_url=ENDPOINT,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    yield made
    made.close()


@pytest.fixture
def bucket(client):
    name = f"rangeio-{uuid.uuid4().hex}"
    where = {"LocationConstraint": REGION}
    client.create_bucket(Bucket=name, CreateBucketConfiguration=where)
    return name


def options(query_auth, region=REGION, **more):
    return {
        "key": "test",
        "secret": "test",
        "endpoint_url": ENDPOINT,
        "client_kwargs": {"region_name": region},
        "query_auth": query_auth,
        **more,
    }


async def drain(reply):
    out, view = b"", memoryview(bytearray(4096))
    while reply.body is not None and (got := await reply.body.receive(view)):
        out += view[:got]
    if reply.body is not None:
        reply.body.close(reuse=True)
    return out


def with_store(given, work):
    async def go():
        stores = {}

        def at(url):
            return resolve(url, given, stores=stores)[:2]

        try:
            return await work(at)
        finally:
            for store in stores.values():
                await store.close()

    return asyncio.run(go())


@WAYS
def test_reads_are_exact(client, bucket, query_auth):
    for key in KEYS:
        client.put_object(Bucket=bucket, Key=key, Body=DATA + key.encode())

    async def work(at):
        for key in KEYS:
            store, name = at(f"s3://{bucket}/{key}")
            whole = DATA + key.encode()
            head = await store.get(name, Suffix(100))
            assert await drain(head) == whole[-100:]
            assert (head.total, head.status) == (len(whole), 206)
            part = await store.get(name, ByteRange(7, 4000), if_match=head.tag)
            assert await drain(part) == whole[7:4000]
            assert (part.tag, part.at) == (head.tag, ByteRange(7, 4000))
            assert await drain(await store.get(name, Suffix(10**6))) == whole
            assert (await store.get(name, ByteRange(10**6, 10**6 + 9))).status == 416

    with_store(options(query_auth), work)


@WAYS
def test_an_overwritten_object_is_seen(client, bucket, query_auth):
    client.put_object(Bucket=bucket, Key="k", Body=DATA)

    async def work(at):
        store, name = at(f"s3://{bucket}/k")
        tag = (await store.get(name, Suffix(5))).tag
        client.put_object(Bucket=bucket, Key="k", Body=DATA[::-1])
        with pytest.raises(ObjectChanged):
            await store.get(name, ByteRange(0, 9), if_match=tag)
        assert await drain(await store.get(name, ByteRange(0, 9))) == DATA[::-1][:9]

    with_store(options(query_auth), work)


@WAYS
def test_versions(client, bucket, query_auth):
    status = {"Status": "Enabled"}
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration=status)
    old = client.put_object(Bucket=bucket, Key="k", Body=b"old bytes")["VersionId"]
    client.put_object(Bucket=bucket, Key="k", Body=b"new bytes")

    async def work(at):
        for url, said in (
            (f"s3://{bucket}/k?versionId={old}", b"old"),
            (f"s3://{bucket}/k", b"new"),
        ):
            store, name = at(url)
            assert await drain(await store.get(name, ByteRange(0, 3))) == said

    with_store(options(query_auth), work)


@WAYS
def test_what_is_missing(client, bucket, query_auth):
    async def work(at):
        store, name = at(f"s3://{bucket}/none")
        with pytest.raises(NotFound, match="no such object"):
            await store.get(name, Suffix(3))
        store, name = at(f"s3://{bucket}none/none")
        with pytest.raises(NotFound, match="no such bucket"):
            await store.get(name, Suffix(3))

    with_store(options(query_auth), work)


def test_customer_keys(client, bucket):
    who = {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": b"k" * 32}
    client.put_object(Bucket=bucket, Key="k", Body=DATA, **who)

    async def work(at):
        store, name = at(f"s3://{bucket}/k")
        assert await drain(await store.get(name, ByteRange(5, 50))) == DATA[5:50]

    with_store(options(True, s3_additional_kwargs=who), work)


def test_what_s3fs_writes_is_read(bucket):
    import s3fs

    given = {name: value for name, value in options(True).items() if name != "query_auth"}
    fs = s3fs.S3FileSystem(**given, skip_instance_cache=True)
    fs.pipe_file(f"{bucket}/dir/k", DATA)
    store, key, _, _ = resolve(f"{bucket}/dir/k", filesystem=fs)

    async def go():
        try:
            return await drain(await store.get(key, Suffix(9)))
        finally:
            await store.close()

    assert asyncio.run(go()) == DATA[-9:]
    fs.close_session(fs.loop, fs._s3creator)
