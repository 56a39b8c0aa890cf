"""info, columns, explain: figures that agree with the library, and what they cost."""

import numpy as np
import pytest

import rangeio
from rangeio.column import pages_of


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_info_says_what_the_library_says(good, files, version):
    found = good("info", files[version], "--json").json
    with rangeio.open(files[version]) as f:
        assert found["rows"] == f.num_rows == 3000
        assert found["columns"] == f.num_columns == 11
        assert found["leaves"] == f.num_leaves == 12
        assert found["size"] == f.size
        assert found["tag"] == f.tag
        assert 0 < found["metadata_size"] == f.metadata_size < f.size
    assert (found["format"], found["version"]) == ("lance", version)
    assert found["consistency"] == "strong"


def test_info_in_words(good, files):
    out = good("info", files["2.1"]).out
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert lines["format"] == "lance 2.1"
    assert lines["rows"] == "3,000"
    assert lines["leaves"] == "12"
    assert lines["cost"].startswith("1 hop, 1 GET, ")


def test_info_counts_the_leaves_of_many_columns_only_when_asked(good, files):
    assert good("info", files["wide"], "--json").json["leaves"] is None
    assert "leaves" not in good("info", files["wide"]).out
    assert good("info", files["wide"], "--json", "--leaves").json["leaves"] == 2500


def test_info_tells_its_cost_as_the_server_counts_it(good, server):
    found = good("info", server.at("wide"), "--json").json
    assert found["cost"]["gets"] == len(server.log)
    assert {r.method for r in server.log} == {"GET"}
    assert found["cost"]["bytes"] < found["size"] / 2


def test_columns_agree_with_the_column_readers(good, files):
    found = {tuple(one["path"]): one for one in good("columns", files["2.1"], "--json").json}
    with rangeio.open(files["2.1"]) as f:
        for top in f.schema:
            for column in top.walk():
                one, reader = found.pop(column.path), f.column(column.path)
                assert one["unique_id"] == reader.unique_id
                assert one["type"] == str(reader.type)
                assert one["bytes"] == sum(page.size for page in reader.pages) > 0
                assert one["pages"] == len(reader.pages)
                assert one["encodings"] == list(dict.fromkeys(p.encoding for p in reader.pages))
                assert one["leaf"] is (not column.children)
    assert found == {}


def test_columns_sum_up_what_lies_below(good, files):
    found = {".".join(c["path"]): c for c in good("columns", files["2.1"], "--json").json}
    below = [c["bytes"] for name, c in found.items() if name.startswith("s.") and c["leaf"]]
    assert len(below) == 2
    assert found["s"]["bytes"] == sum(below)


def test_columns_of_a_wide_file_cost_few_requests(good, server):
    found = good("columns", server.at("wide"), "--json").json
    assert len(found) == 2500
    assert len(server.log) <= 4


def test_columns_like(good, cli, files):
    found = good("columns", files["wide"], "--like", "feature_0001?", "--json").json
    assert [c["path"] for c in found] == [[f"feature_0001{i}"] for i in range(10)]
    table = good("columns", files["2.1"], "--like", "s.x").out.splitlines()
    assert table[0].split() == ["id", "path", "type", "pages", "bytes", "encodings"]
    assert [line.split()[1] for line in table[1:]] == ["s", "s.x"]
    assert cli("columns", files["wide"], "--like", "nothing*").code == 2


def test_columns_in_a_pipe_are_whole(good, files):
    found = good("columns", files["2.1"], "--json").json
    longest = max((", ".join(one["encodings"]) for one in found), key=len)
    assert len(longest) > 60
    assert longest in good("columns", files["2.1"]).out


def test_columns_by_id(good, files):
    with rangeio.open(files["2.1"]) as f:
        wanted = f.schema["day"].unique_id
    (found,) = good("columns", files["2.1"], "--like", f"#{wanted}", "--json").json
    assert found["path"] == ["day"]


def test_pages_of_many_columns_are_those_of_each(files):
    with rangeio.open(files["2.1"]) as f:
        found = pages_of(f, list(f.schema))
        each = [page for column in f.schema for page in f.column(column.path).pages]
        assert [page for pages in found.values() for page in pages] == each


def test_explain_is_the_librarys(good, server):
    words = ["-c", "a,c", "--rows", "1000:2000", "--filter", "b > 5"]
    found = good("explain", server.at("large"), *words, "--json").json
    with rangeio.Session() as session, rangeio.open(server.at("large"), session=session) as f:
        plan = f.explain(["a", "c"], rows=slice(1000, 2000), filters=[("b", ">", 5)])
        assert found == plan.to_dict()
        said = good("explain", server.at("large"), *words).out
        assert said.splitlines() == str(plan).splitlines()


def test_explain_pays_for_metadata_only_and_read_fetches_what_it_said(good, server, tmp_path):
    words = [server.at("large"), "-c", "c,a", "--rows", "1000:2000"]
    plan = good("explain", *words, "--json").json
    paid = len(server.log)
    assert paid == plan["metadata"]["gets"]
    assert plan["gets"] > 0
    read = good("read", *words, "-o", tmp_path / "out.parquet", "--json").json
    assert len(server.log) == 2 * paid + plan["gets"]
    assert read["cost"]["bytes"] == plan["metadata"]["bytes"] + plan["bytes"]
    assert read["cost"]["gets"] == paid + plan["gets"]
    assert read["rows"] == 1000


def test_names_that_would_move_the_terminal_are_escaped(good, files):
    for command in ("columns", "explain", "info"):
        assert "\x1b" not in good(command, files["hostile"]).out
    assert "\\x1b[31mred" in good("columns", files["hostile"]).out


def test_json_of_every_command_is_json(good, files):
    for words in (["info"], ["columns"], ["explain"], ["read"]):
        found = good(*words, files["2.1"], "--json").json
        assert found
    assert np.isfinite(good("explain", files["2.1"], "--json").json["seconds"])
