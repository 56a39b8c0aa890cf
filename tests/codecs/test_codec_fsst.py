from itertools import pairwise

import numpy as np
import pytest
from codec_writers import fsst_encode, outcome, symbol_table
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import fsst
from rangeio.codecs.fsst import SymbolTable
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt, Truncated

SYMBOLS = [b"a", b"http://", b"www.site", b".com", b"an", b"\xff", b"\0\0\0"]


def table(symbols: list[bytes], *, encoded: bool = True) -> SymbolTable:
    return SymbolTable.parse(memoryview(symbol_table(symbols, encoded=encoded)))


def coded(values: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.concatenate(([0], np.cumsum([len(v) for v in values], dtype=np.int64)))
    return np.frombuffer(b"".join(values), np.uint8), offsets.astype(np.int64)


def split(data: np.ndarray, offsets: np.ndarray) -> list[bytes]:
    raw, cuts = data.tobytes(), offsets.tolist()
    return [raw[a:b] for a, b in pairwise(cuts)]


VALUES = [b"", b"http://www.site.com", b"banana", b"\xff\xff", b"\0\0\0\0", b"", b"zz\xffz"]


def test_what_was_encoded_is_decoded(kernels: Kernels | None) -> None:
    codes, offsets = coded([fsst_encode(SYMBOLS, v) for v in VALUES])
    out, cuts = fsst.decode(table(SYMBOLS), codes, offsets, kernels=kernels)
    assert split(out, cuts) == VALUES
    assert cuts[0] == 0
    assert out.base is None


def test_a_window_of_values_is_decoded(kernels: Kernels | None) -> None:
    codes, offsets = coded([fsst_encode(SYMBOLS, v) for v in VALUES])
    out, cuts = fsst.decode(table(SYMBOLS), codes, offsets[2:6], kernels=kernels)
    assert split(out, cuts) == VALUES[2:5]
    assert cuts[0] == 0


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.binary(min_size=1, max_size=8), max_size=40, unique=True),
    st.lists(st.binary(max_size=40), max_size=20),
    st.data(),
)
def test_round_trip_of_any_values(
    kernels: Kernels | None, symbols: list[bytes], values: list[bytes], data: st.DataObject
) -> None:
    if symbols:
        more = st.lists(st.sampled_from(symbols), max_size=9).map(b"".join)
        values = values + data.draw(st.lists(more, max_size=9))
    codes, offsets = coded([fsst_encode(symbols, v) for v in values])
    out, cuts = fsst.decode(table(symbols), codes, offsets, kernels=kernels)
    assert split(out, cuts) == values


def test_the_longest_symbols_fill_eight_times_the_codes(kernels: Kernels | None) -> None:
    codes, offsets = coded([b"\0" * 1000])
    out, _ = fsst.decode(table([b"12345678"]), codes, offsets, kernels=kernels)
    assert out.tobytes() == b"12345678" * 1000


def test_pieces_of_a_long_input_join(kernels: Kernels | None) -> None:
    values = [fsst_encode(SYMBOLS, b"www.site.com%d\xff" % i) for i in range(20_000)]
    codes, offsets = coded(values)
    out, cuts = fsst.decode(table(SYMBOLS), codes, offsets, kernels=kernels)
    assert split(out, cuts) == [b"www.site.com%d\xff" % i for i in range(20_000)]


def test_verbatim_data_are_handed_through(kernels: Kernels | None) -> None:
    codes, offsets = coded([b"skip", b"ab", b"\xff", b""])
    out, cuts = fsst.decode(table([], encoded=False), codes, offsets[1:], kernels=kernels)
    assert split(out, cuts) == [b"ab", b"\xff", b""]


@pytest.mark.parametrize(
    "values", [[b"\xff"], [b"\0", b"\0\xff", b"\0"], [b"\xff\xff\xff"], [b"\x07"], [b"", b"\xfe"]]
)
def test_bad_codes_are_corrupt(values: list[bytes], kernels: Kernels | None) -> None:
    codes, offsets = coded(values)
    bad = 1 if len(values) > 1 else 0
    with pytest.raises(Corrupt, match=f"value {bad}:"):
        fsst.decode(table(SYMBOLS), codes, offsets, kernels=kernels)


@pytest.mark.parametrize("offsets", [[], [0, 9], [-1, 2], [2, 1], [0, 3, 2, 4], [5]])
def test_bad_offsets_are_corrupt(offsets: list[int], kernels: Kernels | None) -> None:
    for encoded in (True, False):
        with pytest.raises(Corrupt):
            fsst.decode(
                table(SYMBOLS, encoded=encoded), np.zeros(4, np.uint8), offsets, kernels=kernels
            )


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 255),
    st.lists(st.sampled_from([0, 1, 2, 254, 255, 255]), max_size=40),
    st.lists(st.integers(0, 40), max_size=6),
)
def test_kernel_and_twin_agree_on_any_codes(
    both: tuple[Kernels, None], symbols: int, codes: list[int], cuts: list[int]
) -> None:
    one = table([bytes([i % 7]) * (i % 8 + 1) for i in range(symbols)])
    data = np.array(codes, np.uint8)
    edges = [0, *sorted(min(c, len(codes)) for c in cuts), len(codes)]
    answers = [outcome(lambda k=k: fsst.decode(one, data, edges, kernels=k)) for k in both]
    assert answers[0] == answers[1]


def test_a_table_is_parsed_whole_or_refused() -> None:
    good = symbol_table(SYMBOLS)
    with pytest.raises(Truncated):
        SymbolTable.parse(memoryview(good[:-1]))
    for at, value in ((7, 0), (8 + 8 * len(SYMBOLS), 0), (8 + 8 * len(SYMBOLS), 9)):
        bad = bytearray(good)
        bad[at] = value
        with pytest.raises(Corrupt):
            SymbolTable.parse(memoryview(bad))
