"""``python -m rangeio``: the command line."""

from rangeio.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
