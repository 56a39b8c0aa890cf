"""The demo: both readers agree, and the figures keep what is promised."""

import json

from rangeio.cli.demo import ASKED, COLUMNS, demo


def test_figures(capsys):
    assert demo(as_json=True) == 0
    found = json.loads(capsys.readouterr().out)
    ours, peer = found["figures"]["rangeio"], found["figures"]["pylance"]
    assert found["equal"] is True
    assert found["plan"]["columns"] == list(ASKED)
    assert ours["heads"] == 0
    assert ours["hops"] <= 4
    assert ours["hops"] < peer["hops"]
    assert ours["gets"] <= peer["gets"]
    # All metadata of such a file is what pylance reads; nothing above it by more than a tenth.
    assert ours["bytes"] <= peer["bytes"] * 1.1


def test_it_tells_a_story(capsys):
    assert demo() == 0
    said = capsys.readouterr().out
    for words in (
        f"{COLUMNS:,} columns",
        "S3 server",
        "GET",
        "hops",
        "pylance",
        "equal values: yes",
    ):
        assert words in said
