"""Read a few columns of one file, and say what it cost: two_columns.py URL COLUMN..."""

import sys

import rangeio

url, *columns = sys.argv[1:]
with rangeio.open(url) as file:
    print(file.explain(columns))
    table = file.read(columns)
    print(table.schema)
    print(table.num_rows, "rows")
    print(file.trace)
