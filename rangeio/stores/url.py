"""Urls without their secrets."""

from __future__ import annotations


def redact(url: str) -> str:
    """The url without userinfo, query and fragment: fit for errors, logs, traces and reprs.

    Works on any text, never raises. A path without a scheme is left as it is: its ``?`` and ``#``
    are part of a file's name.
    """
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url
    shown = rest.partition("#")[0].partition("?")[0]
    authority, slash, path = shown.partition("/")
    if not slash and "@" in rest[len(shown) :]:
        # An unescaped mark in a password, or a query right after the host: nobody can tell.
        return f"{scheme}://"
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"
