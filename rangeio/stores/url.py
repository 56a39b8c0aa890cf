"""Urls without their secrets."""

from __future__ import annotations


def redact(url: str) -> str:
    """The url without userinfo, query and fragment: fit for errors, logs, traces and reprs.

    Works on any text, never raises: what cannot be parsed is cut at the first ``?`` or ``#``, and
    all before the last ``@`` of the authority is dropped.
    """
    cut = min((i for i in (url.find("?"), url.find("#")) if i >= 0), default=len(url))
    url = url[:cut]
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"
