"""rangeio reads N columns of a C-column file on object storage and pays for N."""

import logging

from rangeio import errors
from rangeio.aio import AsyncFile, open_async
from rangeio.column import ColumnReader
from rangeio.convert import convert
from rangeio.datasets.dataset import Dataset, dataset
from rangeio.datasets.plan import DatasetPlan
from rangeio.engine.disk.settings import DiskCache
from rangeio.errors import FormatError, RangeIOError, RequestError, StoreError
from rangeio.explanation import Explanation
from rangeio.fetching import fetch, fetch_async, open_raw
from rangeio.file import File, open  # noqa: A004 - the name users expect
from rangeio.schema import Column, Schema
from rangeio.session import Session
from rangeio.transport.trace import GetRecord, Trace
from rangeio.write import Written, write

__version__ = "0.1.0"

__all__ = [
    "AsyncFile",
    "Column",
    "ColumnReader",
    "Dataset",
    "DatasetPlan",
    "DiskCache",
    "Explanation",
    "File",
    "FormatError",
    "GetRecord",
    "RangeIOError",
    "RequestError",
    "Schema",
    "Session",
    "StoreError",
    "Trace",
    "Written",
    "convert",
    "dataset",
    "errors",
    "fetch",
    "fetch_async",
    "open",
    "open_async",
    "open_raw",
    "write",
]

logging.getLogger("rangeio").addHandler(logging.NullHandler())
