"""doctor: what is installed, what is in force, and no secret."""

import importlib.metadata

from hypothesis import given
from hypothesis import strategies as st

import rangeio
from rangeio.cli.main import main
from rangeio.cli.source import storage_options
from rangeio.codecs import native


def test_versions_kernels_and_schemes(good):
    found = good("doctor", "--json").json
    assert found["ok"] is True
    assert found["problems"] == []
    assert found["versions"]["rangeio"] == rangeio.__version__
    assert found["versions"]["pyarrow"] == importlib.metadata.version("pyarrow")
    assert found["native kernels"]["available"].startswith("yes" if native.available else "no: ")
    assert found["extras"]["cli"].startswith("rich ")
    assert "lance" in found["formats"]
    assert {"file", "memory", "http", "https", "s3", "gs", "others"} <= set(found["schemes"])
    assert found["schemes"]["s3"] == "yes"
    assert "ftp://" in found["schemes"]["others"]


def test_words(good):
    out = good("doctor").out
    assert out.splitlines()[-1] == "all is well"
    assert "native kernels" in out


def test_settings_in_force(process):
    env = {"RANGEIO_MEMORY_CACHE": "16MiB", "RANGEIO_PROFILE": "gs", "RANGEIO_NATIVE": "off"}
    found = process("doctor", "--json", env=env).json
    assert found["settings"]["memory_cache"] == "16 MiB (RANGEIO_MEMORY_CACHE)"
    assert found["settings"]["profile"] == "gs (RANGEIO_PROFILE)"
    assert found["settings"]["hedge"] == "off (default)"
    assert found["settings"]["disk_cache"] == "none (default)"
    assert "switched off" in found["native kernels"]["available"]


def test_a_disk_cache_is_shown_and_not_made(process, tmp_path):
    env = {"RANGEIO_DISK_CACHE": str(tmp_path / "c"), "RANGEIO_DISK_CACHE_BYTES": "64MiB"}
    found = process("doctor", "--json", env=env).json
    said = f"{tmp_path}/c, 64 MiB at most (RANGEIO_DISK_CACHE)"
    assert found["settings"]["disk_cache"] == said
    assert not (tmp_path / "c").exists()


def test_no_secret_is_shown(process):
    env = {"AWS_SECRET_ACCESS_KEY": "hushhush", "AWS_REGION": "eu-west-1"}
    env["HTTPS_PROXY"] = "http://user:hushhush@proxy:1"
    ran = process("doctor", env=env)
    assert ran.code == 0
    assert "hush" not in ran.out
    assert "eu-west-1" in ran.out
    assert "AWS_SECRET_ACCESS_KEY" in ran.out


def test_a_setting_that_is_off(capsys, monkeypatch):
    monkeypatch.setenv("RANGEIO_PROFILE", "s4")
    assert main(["doctor"]) == 1
    said = capsys.readouterr()
    assert said.out.splitlines()[-1].startswith("problem: no profile is called 's4'")
    assert said.err == ""


def test_kernels_that_are_required_in_vain(process):
    ran = process("doctor", "--json", env={"RANGEIO_NATIVE": "please"})
    assert ran.code == 1
    assert ran.json["ok"] is False
    assert ran.json["problems"] == ["RANGEIO_NATIVE='please'; it takes 'require' or 'off'"]


def test_missing_extras_are_named(python, tmp_path):
    (tmp_path / "gcsfs.py").write_text("raise ImportError('not here')\n")
    ran = python(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from rangeio.cli.main import main\n"
        "sys.exit(main(['doctor']))"
    )
    assert ran.code == 0
    assert "no: pip install 'rangeio[gcs]'" in ran.out


def test_storage_options():
    words = ["anon=true", "client_kwargs.region_name=eu", "client_kwargs.verify=false", "a=x=y"]
    assert storage_options(words) == {
        "anon": True,
        "client_kwargs": {"region_name": "eu", "verify": False},
        "a": "x=y",
    }
    assert storage_options(['headers={"A": "b"}', "n=5", "t=", "u={"]) == {
        "headers": {"A": "b"},
        "n": 5,
        "t": "",
        "u": "{",
    }
    assert storage_options(["secret=0123", "key=123", "token=null"]) == {
        "secret": "0123",
        "key": "123",
        "token": None,
    }


@given(st.text(st.characters(codec="utf-8")))
def test_any_value_is_taken(text):
    assert set(storage_options([f"name={text}"])) == {"name"}
