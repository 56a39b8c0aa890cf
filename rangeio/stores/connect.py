"""How connections are made: TLS, proxy, time."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Connect:
    """The settings of an endpoint's connections; its repr shows no secret.

    verify: check the server's certificate. ca_file, cert_file, key_file: PEM files; the key may be
    in ``cert_file``. proxy: url of an HTTP proxy. proxy_headers: sent to the proxy alone.
    connect_s: seconds that name lookup, TCP and TLS may take together. keepalive_s: seconds that
    an idle connection is kept. public_only: refuse to connect to loopback, link-local and private
    addresses, for urls that come from others; behind a proxy that is the proxy's to do.
    """

    verify: bool = True
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    proxy: str | None = field(default=None, repr=False)
    proxy_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    connect_s: float = 10.0
    keepalive_s: float = 30.0
    public_only: bool = False

    def context(self) -> ssl.SSLContext:
        """The TLS context: the system's authorities, unless told otherwise."""
        context = ssl.create_default_context(cafile=self.ca_file)
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.cert_file is not None:
            context.load_cert_chain(self.cert_file, self.key_file)
        return context
