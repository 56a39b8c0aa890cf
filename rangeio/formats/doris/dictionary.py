"""A column's dictionary page: the words that its data pages number."""

from __future__ import annotations

from rangeio.errors import Corrupt, FormatError
from rangeio.formats.doris.branches import Metas
from rangeio.formats.doris.columns import Place
from rangeio.formats.doris.encodings import Binary
from rangeio.formats.doris.encodings import words as words_in
from rangeio.formats.doris.page import Page, unframed
from rangeio.formats.doris.words import PageType, worded
from rangeio.plan import SharedLoad
from rangeio.steps import Steps, need


def words(shared: SharedLoad, metas: Metas) -> Steps[tuple[Binary, int]]:
    """The words, and the bytes of memory that they hold."""
    (at,) = shared.ranges
    data = yield from need(at, "doris.dictionary")
    place: Place = shared.args
    node = metas[place.meta].node.below(place.steps)
    page = unframed(data, node.compression, at.start)
    try:
        found = _words(page)
    except FormatError as error:
        error.offset = at.start
        raise
    return found, found.offsets.nbytes + found.data.nbytes


def _words(page: Page) -> Binary:
    if page.kind is not PageType.DICTIONARY:
        raise Corrupt(f"a page of {worded(PageType, page.kind)} where a dictionary belongs")
    return words_in(page.footer.dict_page_footer.encoding, page.body)
