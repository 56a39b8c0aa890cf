"""Urls without their secrets."""

from __future__ import annotations

from urllib.parse import urlsplit

# What a signature adds to a query, by the parameter that tells its kind.
_SIGNED = {
    "x-amz-signature": "x-amz-algorithm x-amz-credential x-amz-date x-amz-expires "
    "x-amz-security-token x-amz-signedheaders",
    "x-goog-signature": "x-goog-algorithm x-goog-credential x-goog-date x-goog-expires "
    "x-goog-signedheaders",
    "awsaccesskeyid": "expires signature x-amz-security-token",
    "googleaccessid": "expires signature",
    "key-pair-id": "expires policy signature",
    "sig": "sv se st sp sr sip spr ss srt skoid sktid skt ske sks skv sdd saoid suoid scid ses",
}


def place(url: str) -> str:
    """The url without what merely permits: userinfo, fragment, signatures of the known kinds.

    What is left of the query counts, for it may name another object; it may still be a secret.
    """
    parts = urlsplit(url)
    query = [one for one in parts.query.split("&") if one]
    said = {one.partition("=")[0].lower() for one in query}
    known = said & _SIGNED.keys()
    gone = known.union(*(_SIGNED[kind].split() for kind in known))
    kept = "&".join(one for one in query if one.partition("=")[0].lower() not in gone)
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{parts.scheme}://{host}{parts.path}" + (f"?{kept}" if kept else "")


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
