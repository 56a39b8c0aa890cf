"""Version 2.0 pages: raw Arrow-like buffers, exact in rows."""

from __future__ import annotations

from rangeio.formats.lance.pages import Pages
from rangeio.formats.lance.v20.reading import V20

PAGES: Pages = V20()
