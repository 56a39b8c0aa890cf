"""What a terminal sees: a table that fits, progress on stderr, colour only where it is wanted."""

import os
import pty
import re
import termios

import pytest


@pytest.fixture
def terminal(process):
    """Run a command whose stdout, stderr or both are a terminal; returns the code and its text."""

    def run(*words, stdout=True, stderr=True, env=None):
        ours, theirs = pty.openpty()
        try:
            termios.tcsetwinsize(theirs, (50, 160))
            more = {"stdout": theirs} if stdout else {}
            more |= {"stderr": theirs} if stderr else {}
            env = {"TERM": "xterm-256color", "COLUMNS": "160", **(env or {})}
            one = process(*words, env=env, start=True, **more)
        finally:
            os.close(theirs)
        said = _drained(ours)
        one.communicate(timeout=60)
        return one.returncode, said.decode().replace("\r\n", "\n")

    return run


def _drained(ours):
    said = b""
    try:
        while got := os.read(ours, 1 << 16):
            said += got
    except OSError:  # the other side was closed
        pass
    os.close(ours)
    return said


def test_a_table_of_the_first_rows(terminal, files):
    code, said = terminal("read", files["2.1"], "-c", "id,name,s", env={"NO_COLOR": "1"})
    assert code == 0
    assert "\x1b[3" not in said
    rows = [line.split(maxsplit=2) for line in said.splitlines() if re.match(r"\s*\d", line)]
    assert [row[0] for row in rows] == [str(i) for i in range(20)]
    assert [row[1] for row in rows][:3] == ["null", "n1", "n2"]
    assert rows[3][2].strip() == '{"x": 3, "y": [3, 4]}'
    assert "the first 20 of 3,000 rows: -n shows more, -o writes all" in said


def test_a_limit_is_a_limit(terminal, files):
    _, said = terminal("read", files["2.1"], "-c", "id", "-n", "30", env={"NO_COLOR": "1"})
    assert len(re.findall(r"^\s*\d+\s*$", said, re.MULTILINE)) == 30
    assert "the first" not in said
    _, said = terminal("read", files["2.1"], "-c", "id", "--rows", "5:9", env={"NO_COLOR": "1"})
    assert "the first" not in said


def test_a_filter_says_no_total(terminal, files):
    words = ["-c", "id", "--filter", "id > 10"]
    _, said = terminal("read", files["2.1"], *words, env={"NO_COLOR": "1"})
    assert "the first 20 rows: -n shows more" in said


def test_many_columns_are_not_read_to_be_left_out(terminal, server):
    code, said = terminal("read", server.at("wide"), env={"NO_COLOR": "1"})
    assert code == 0
    assert "2,480 more columns: choose with -c, or write all with -o" in said
    fetched = sum(
        int(last) - int(start)
        for start, last in re.findall(
            r"(\d+)-(\d+)", " ".join(r.headers.get("range", "") for r in server.log)
        )
    )
    assert fetched < 2 << 20


def test_values_that_would_move_the_terminal_are_escaped(terminal, files):
    _, said = terminal("read", files["hostile"], env={"NO_COLOR": "1"})
    assert "\x1b]0" not in said
    assert "\x07" not in said
    assert "\\x1b]0;x\\x07" in said
    assert "a b" in said


def test_without_rich_columns_are_plain(terminal, files, tmp_path, monkeypatch):
    # A finder that hides rich, as if it was not installed.
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u, sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'rich':\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda n, p=None: None if n == 'rich' else real(n, p)\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    path = os.pathsep.join(
        [str(tmp_path), os.path.dirname(os.path.dirname(os.path.dirname(__file__)))]
    )
    code, said = terminal("read", files["2.1"], "-c", "id,name", "-n2", env={"PYTHONPATH": path})
    assert code == 0
    assert said == "id  name\n 0  null\n 1  n1\n"


def test_no_progress_where_nobody_looks(process, files, tmp_path):
    ran = process("read", files["long"], "-o", tmp_path / "out.csv")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_progress_and_what_it_cost_go_to_a_terminal(terminal, server, tmp_path):
    server.delay_s = 0.2  # long enough to be shown
    out = tmp_path / "out.csv"
    code, said = terminal("read", server.at("long"), "-o", out, stdout=False)
    assert code == 0
    last = said.splitlines()[-1]
    assert f"{out}: 1,572,864 rows; " in last
    assert "GETs" in last
    assert re.search(r"\d rows, [0-9.]+ MB read", said)
