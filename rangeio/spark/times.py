"""Times in the options of a read: those without a zone are of the session's. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d\d?)(?::?(\d\d)(?::?(\d\d))?)?")


def seconds(text: str, zone: str | None) -> float:
    """Since 1970. zone: of a time that names none, None: the machine's. Raises ValueError."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        # Without a zone astimezone() takes the machine's.
        found = found.astimezone() if zone is None else found.replace(tzinfo=zone_of(zone))
    return found.astimezone(UTC).timestamp()


def zone_of(name: str) -> tzinfo:
    """A zone as Spark names it: ``Pacific/Auckland``, ``+05:30``, ``UTC-8``, ``Z``. Raises
    ValueError."""
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        sign, *parts = offset.groups()
        hours, minutes, rest = (int(part or 0) for part in parts)
        found = timedelta(hours=hours, minutes=minutes, seconds=rest)
        return timezone(found if sign == "+" else -found)
    if name in ("Z", "UT"):
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"no time zone {name!r} is known here") from None
