"""Bad words and failing stores: one line, that says what is wrong and what to do."""

import ssl
import subprocess

import pytest

from rangeio.cli.main import main
from rangeio.testing.fault import Fault
from rangeio.testing.moto import MotoServer
from rangeio.testing.server import RangeServer
from rangeio.testing.sigv4 import Bucket, SigV4Server

WORDS, FAILED = 2, 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-c", "nam"], "no column 'nam'; did you mean 'name'?"),
        (["-c", "NAME"], "did you mean 'name'? (names are case-sensitive)"),
        (["-c", "s.z"], "no column 's.z'; did you mean 's."),
        (["-c", "zz*"], "no column matches 'zz*'"),
        (["-c", "#777"], "no column has the unique_id 777"),
        (["-c", ","], "-c names no column"),
        (["-c", '"a'], "-c is names with commas between"),
        (["--rows", "5000"], "row 5000 is outside the file, which has 3000 rows"),
        (["--rows=-5:"], "row -5 is negative"),
        (["--rows", "1:9:2"], "--rows is START:STOP or row numbers like 7,3,3, not '1:9:2'"),
        (["--rows", "1,,2"], "--rows is START:STOP"),
        (["--rows", "9" * 40], "--rows is START:STOP"),
        (["--filter", "nam = 3"], "no column 'nam'; did you mean 'name'?"),
        (["--filter", "id > many"], "'many' is no value of column 'id', which is int64"),
        (["--filter", "id >"], "fails at its end: a value is missing"),
        (["--filter", "id"], "after the column comes one of"),
        (["--filter", ""], "a condition is: column op value"),
        (["--filter", "name = 'x"], "a quote is not closed"),
        (["--filter", "id = 5 6"], "quote a value that has spaces"),
        (["--filter", "id in 5"], "'in' goes with a list: (a, b)"),
        (["--filter", "id in (5"], "a list ends with )"),
        (["--filter", "id not 5"], "'not' goes with 'in'"),
        (["--filter", "id is 5"], "'is' goes with 'null' or 'not null'"),
        (["--filter", "name = null"], "ask 'is null'"),
        (["--filter", "s = 5"], "only 'is null' can be asked"),
        (["--profile", "s4"], "no profile is called 's4'"),
        (["--format", "word"], "no format is called 'word'"),
        (["--storage-option", "secretkey"], "--storage-option wants KEY=VALUE"),
        (["--storage-option", "a=1", "--storage-option", "a.b=2"], "'a' has a value already"),
    ],
)
def test_words_about_a_file(cli, files, words, said):
    for command in ("read", "explain"):
        ran = cli(command, files["2.1"], *words)
        assert ran.code == WORDS
        assert said in ran.err
        assert ran.out == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "required: COMMAND"),
        (["red"], "invalid choice: 'red'"),
        (["info"], "required: URL"),
        (["info", "x", "--nope"], "unrecognized arguments: --nope"),
        (["read", "x", "-n", "-1"], "'-1' is no number of rows"),
        (["read", "x", "-n", "many"], "'many' is no number of rows"),
        (["read", "x", "--as", "xls"], "invalid choice: 'xls'"),
        (["read", "x", "--as", "parquet"], "parquet goes to a file (-o)"),
        (["read", "x", "--as", "csv", "--json"], "two formats; give one"),
        (["read", "s3x://b/k"], "no filesystem is known for s3x:// urls; did you mean s3"),
        (["read", "abfs://b/k"], "abfs:// needs the package adlfs: pip install 'adlfs'"),
        (["read", "s3://b"], "s3://bucket/key is wanted"),
        (["read", "ftp://h/k", "--anon"], "--anon is not known for ftp:// urls"),
        (["read", ""], "empty path"),
    ],
)
def test_words_about_nothing(cli, words, said):
    ran = cli(*words)
    assert ran.code == WORDS
    assert said in ran.err


def test_a_secret_is_not_repeated(cli, files):
    ran = cli("info", files["2.1"], "--storage-option", "=hushhush")
    assert ran.code == WORDS
    assert "hush" not in ran.err


def test_files_that_are_none(cli, files, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "zeros").write_bytes(bytes(5000))
    for path, said in [
        (tmp_path / "none.lance", "no such file"),
        (tmp_path, "this is a directory, not a file"),
        (files["text"], "no format claims a file that ends in"),
        (tmp_path / "zeros", "no format claims a file that ends in"),
        (tmp_path / "empty", ""),
    ]:
        for command in ("info", "columns", "explain", "read"):
            ran = cli(command, path)
            assert ran.code == FAILED
            assert ran.err.startswith(f"rangeio: {path}: ")
            assert said in ran.err


def test_a_damaged_file(cli, files, tmp_path):
    with open(files["2.1"], "rb") as file:
        whole = bytearray(file.read())
    whole[-40:-32] = b"\xff" * 8
    (tmp_path / "bad.lance").write_bytes(whole)
    ran = cli("info", tmp_path / "bad.lance")
    assert ran.code == FAILED
    assert "at byte" in ran.err


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(status=401), "access denied: HTTP 401; check the credentials"),
        (Fault(status=403), "access denied: HTTP 403; check the credentials"),
        (Fault(status=404), "no such object"),
        (Fault(ignore_range=True, status=501), "the server answered 501"),
        (Fault(content_range="bytes 0-1/2"), "bytes 0:2"),
    ],
)
def test_servers_that_refuse(cli, server, monkeypatch, fault, said):
    monkeypatch.setenv("RANGEIO_DEADLINE", "1")
    server.script.add(fault, times=10**6)
    ran = cli("info", server.at("2.1"))
    assert ran.code == FAILED
    assert ran.err.startswith(f"rangeio: {server.at('2.1')}")
    assert said in ran.err


def test_nobody_listens(cli, server, monkeypatch):
    url = server.at("2.1")
    server.stop()
    monkeypatch.setenv("RANGEIO_DEADLINE", "0.5")
    ran = cli("info", url)
    assert ran.code == FAILED
    assert ran.err.startswith(f"rangeio: {url}: ")
    assert "check the address and the network" in ran.err


def test_a_certificate_that_nobody_vouches_for(cli, tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-keyout", key, "-out", certificate, "-subj", "/CN=nobody"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no openssl")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    monkeypatch.setenv("RANGEIO_DEADLINE", "2")
    with RangeServer({"k": b"x" * 99}, tls=tls) as server:
        ran = cli("info", server.at("k"))
    assert ran.code == FAILED
    assert "TLS" in ran.err or "certificate" in ran.err


# ---- S3 ----------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _no_credentials_of_the_machine(monkeypatch, tmp_path):
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "PROFILE", "ENDPOINT_URL"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.fixture
def s3(files):
    with open(files["2.1"], "rb") as file:
        data = file.read()
    buckets = {
        "b": Bucket(objects={"k.lance": data}),
        "far": Bucket(region="eu-west-1", objects={"k.lance": data}),
        "open": Bucket(objects={"k.lance": data}, public=True),
    }
    with SigV4Server(buckets) as server:
        yield server


def options(server, key="ACCESSKEY", secret="secretkey"):
    given = {"endpoint_url": server.url, "key": key, "secret": secret}
    return [w for n, v in given.items() if v for w in ("--storage-option", f"{n}={v}")]


def test_s3_by_storage_options(good, s3):
    assert good("info", "s3://b/k.lance", *options(s3), "--json").json["rows"] == 3000


def test_s3_of_another_region_is_found(good, s3):
    assert good("info", "s3://far/k.lance", *options(s3), "--json").json["rows"] == 3000


def test_s3_anonymously(good, cli, s3):
    words = [*options(s3, None, None), "--anon"]
    assert good("info", "s3://open/k.lance", *words, "--json").json["rows"] == 3000
    ran = cli("info", "s3://b/k.lance", *words)
    assert (ran.code, "the object is not public" in ran.err) == (FAILED, True)


@pytest.mark.parametrize(
    ("url", "more", "said"),
    [
        ("s3://b/none", {}, "s3://b/none: no such object: HTTP 404 (NoSuchKey)"),
        ("s3://none/k", {}, "s3://none/k: no such bucket: HTTP 404 (NoSuchBucket)"),
        ("s3://b/k.lance", {"secret": "hushhush"}, "the secret key is wrong"),
        ("s3://b/k.lance", {"key": "HUSHHUSH"}, "the access key is not known"),
        ("s3://b/k.lance", {"key": None, "secret": None}, "no credentials were found"),
    ],
)
def test_s3_that_refuses(cli, s3, url, more, said):
    ran = cli("read", url, *options(s3, **more))
    assert ran.code == FAILED
    assert said in ran.err
    assert "hush" not in ran.err.lower()


def test_s3_as_moto_plays_it(good, cli, files):
    with MotoServer() as moto, open(files["2.1"], "rb") as file:
        moto.bucket("bucket")
        url = moto.put("bucket", "a folder/k=1.lance", file.read())
        words = ["--storage-option", f"endpoint_url={moto.url}"]
        words += ["--storage-option", "key=testing", "--storage-option", "secret=testing"]
        words += ["--storage-option", "client_kwargs.region_name=us-east-1"]
        rows = good("read", url, *words, "-c", "id", "-n2", "--json").json
        assert rows == [{"id": 0}, {"id": 1}]
        assert cli("read", "s3://bucket/none", *words).code == FAILED


# ---- from outside ------------------------------------------------------------------------------


def test_a_missing_package_is_named(python, tmp_path):
    for name, scheme, extra in (("s3fs", "s3", "s3"), ("gcsfs", "gs", "gcs")):
        (tmp_path / f"{name}.py").write_text("raise ImportError('not here')\n")
        code = (
            f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
            f"from rangeio.cli.main import main\n"
            f"sys.exit(main(['info', '{scheme}://b/k']))"
        )
        ran = python(code)
        assert ran.code == WORDS
        assert f"needs the package {name}" in ran.err
        assert f"pip install 'rangeio[{extra}]'" in ran.err
        assert ran.err.count("\n") == 1


def test_debug_shows_where(capsys, files, monkeypatch):
    monkeypatch.setenv("RANGEIO_DEBUG", "1")
    assert main(["read", files["2.1"], "-c", "nam"]) == WORDS
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert said.splitlines()[-1] == "rangeio: no column 'nam'; did you mean 'name'?"


def test_a_reader_that_hangs_up_is_no_error(process, files):
    one = process("read", files["large"], start=True)
    assert one.stdout.readline() == b'"a","b","c","d"\n'
    one.stdout.close()
    one.stdout = None
    _, err = one.communicate(timeout=60)
    assert (one.returncode, err) == (0, b"")


def test_a_setting_that_is_off(process, files):
    ran = process("info", files["2.1"], env={"RANGEIO_MEMORY_CACHE": "lots"})
    assert ran.code == WORDS
    assert ran.err == (
        "rangeio: RANGEIO_MEMORY_CACHE is a number or a size like 64MiB, not 'lots'\n"
    )
