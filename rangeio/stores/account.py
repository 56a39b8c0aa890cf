"""Who asks S3, and where: the settings that an s3fs filesystem was given."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import re
import time
from collections.abc import Mapping
from typing import Any

from rangeio.errors import Denied, RequestError, StoreError
from rangeio.stores.connect import Connect
from rangeio.stores.options import proxy_of_environment
from rangeio.stores.refusal import RefusedForGood
from rangeio.stores.signing import Keys
from rangeio.stores.url import place

RENEWAL_S = 10.0
"""Credentials are looked up from scratch at most once in so many seconds."""

_REGION: contextvars.ContextVar[str] = contextvars.ContextVar("region")
_PROBE = "k"
_AMAZON = re.compile(r"https://s3(-fips)?(\.dualstack)?(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?/?")
_SECRETS = re.compile(r"\?\S*|(?<=://)[^\s/@]*@|[A-Za-z0-9/+=_-]{30,}")


class Account:
    """An s3fs filesystem's credentials, endpoint and settings, held by one loop.

    options: of ``s3fs.S3FileSystem``. filesystem: an instance that the caller has; it is not used
    but copied, since its connections belong to another loop. No connection is made for anything
    here, unless credentials themselves have to be fetched.
    """

    def __init__(self, options: Mapping[str, object], filesystem: Any = None) -> None:
        self._fs = _private(options, filesystem)
        self._lock = asyncio.Lock()
        self._client: Any = None
        self._old: list[Any] = []
        self._renewed = 0.0

    async def client(self) -> Any:
        """The botocore client: signs version 4, retries nothing."""
        if self._client is None:
            async with self._lock:
                if self._client is None:
                    self._client = await self._connect()
        return self._client

    @property
    def anonymous(self) -> bool:
        """Whether requests go unsigned."""
        from botocore import UNSIGNED

        return bool(self._fs.anon) or self._fs.config_kwargs.get("signature_version") is UNSIGNED

    async def region(self) -> str:
        """The region that was configured; us-east-1 where none was."""
        name = (await self.client()).meta.region_name
        return name if name and name != "aws-global" else "us-east-1"

    async def carried(self) -> dict[str, object]:
        """What every GetObject must carry in its headers: customer keys, who pays."""
        client = await self.client()
        shape = client.meta.service_model.operation_model("GetObject").input_shape
        given = {**self._fs.s3_additional_kwargs, **self._fs.req_kw}
        return {name: v for name, v in given.items() if name in shape.members and v is not None}

    async def keys(self) -> Keys | None:
        """The credentials as they are now, refreshed where they were about to expire."""
        if self.anonymous:
            return None
        await self.client()
        static = self._static()
        if static is not None:
            return static
        try:
            found = await self._fs.session.get_credentials()
            frozen = await found.get_frozen_credentials() if found is not None else None
        except Exception as error:
            failure = credentials_failure(error)
        else:
            if frozen is not None:
                return Keys(frozen.access_key, frozen.secret_key, frozen.token, _expiry(found))
            failure = Denied(
                "no credentials were found: pass key and secret, or anon=True for a public bucket"
            )
        raise failure

    async def renew(self) -> None:
        """Look credentials up from scratch: environment, files, the machine's own service.

        Credentials that were given as such stay; a session that was given refreshes its own.
        """
        async with self._lock:
            since = time.monotonic() - self._renewed
            if self._static() or self._client is None or (self._renewed and since < RENEWAL_S):
                return
            # GETs may be under way on the old client: it is closed with the others, at the end.
            self._old.append(self._client)
            self._client = await self._connect(afresh=True)
            self._renewed = time.monotonic()

    async def root(self, bucket: str, region: str) -> str:
        """The url, with a final slash, below which the bucket's objects lie in that region.

        botocore decides: virtual host or path, dual stack, acceleration, the endpoint given.
        """
        client = await self.client()
        marked = _REGION.set(region)
        try:
            asked = {"Bucket": bucket, "Key": _PROBE}
            url: str = await client.generate_presigned_url("get_object", Params=asked)
        except Exception as error:
            failure = credentials_failure(error)
        else:
            return url.partition("?")[0].removesuffix(_PROBE)
        finally:
            _REGION.reset(marked)
        raise failure

    async def place(self) -> str:
        """Where the buckets are, whoever asks: Amazon's part of the world, or the endpoint."""
        client = await self.client()
        endpoint: str = client.meta.endpoint_url
        where: str = client.meta.partition if _AMAZON.fullmatch(endpoint) else place(endpoint)
        # What came unverified is never taken for what a certificate vouches for.
        return f"unverified {where}" if self._fs.client_kwargs.get("verify") is False else where

    async def connect(self) -> Connect | None:
        """TLS, proxy and time to connect; None where only botocore's own client can do it."""
        client = await self.client()
        config, given = client.meta.config, self._fs.client_kwargs
        if config.proxies_config:
            return None
        verify = given.get("verify")
        if verify is None:
            verify = self._fs.session.get_config_variable("ca_bundle")
        verify = os.environ.get("REQUESTS_CA_BUNDLE") if verify is None else verify
        cert = config.client_cert
        pair = (cert, None) if isinstance(cert, str) else tuple(cert or (None, None))
        timeout = config.connect_timeout
        return Connect(
            verify=verify is not False,
            ca_file=verify if isinstance(verify, str) else None,
            cert_file=pair[0],
            key_file=pair[1],
            proxy=_proxy(config.proxies, client.meta.endpoint_url),
            connect_s=float(timeout[0] if isinstance(timeout, tuple | list) else timeout),
        )

    async def close(self) -> None:
        """Close every client."""
        clients, self._old = [*self._old, self._client], []
        self._client = None
        for client in clients:
            if client is not None:
                await client.close()

    def _static(self) -> Keys | None:
        """The credentials that were given as such."""
        fs, given = self._fs, self._fs.client_kwargs
        access = fs.key or given.get("aws_access_key_id")
        secret = fs.secret or given.get("aws_secret_access_key")
        if not (access and secret):
            return None
        return Keys(access, secret, fs.token or given.get("aws_session_token"))

    async def _connect(self, *, afresh: bool = False) -> Any:
        try:
            _share_models(self._fs, afresh=afresh)
            client = await self._fs.set_session()
        except Exception as error:
            failure = credentials_failure(error)
        else:
            client.meta.events.register("before-endpoint-resolution.s3", _to_region)
            client.meta.events.register("choose-signer.s3.GetObject", _no_signer)
            return client
        raise failure

    def __repr__(self) -> str:
        return "Account()"


def _private(options: Mapping[str, object], filesystem: Any) -> Any:
    """An s3fs filesystem of our own, whose client signs version 4 and retries nothing."""
    from botocore.config import Config
    from s3fs import S3FileSystem

    own = {"asynchronous": True, "loop": None, "cache_regions": False, "skip_instance_cache": True}
    failure = ""
    try:
        if filesystem is None:
            fs = S3FileSystem(**{**options, **own})
        else:
            given = {**filesystem.storage_options, **own}
            fs = type(filesystem)(*filesystem.storage_args, **given)
    except (TypeError, ValueError, KeyError) as error:
        failure = f"these storage_options do not fit s3fs: {type(error).__name__}"
    if failure:
        raise RequestError(failure)
    config = {"signature_version": "s3v4", **fs.config_kwargs}
    if config["signature_version"] in ("s3", "s3-query", "v4", None):
        config["signature_version"] = "s3v4"
    config["retries"] = {"total_max_attempts": 1, "mode": "standard"}
    if "response_checksum_validation" in Config.OPTION_DEFAULTS:
        config.setdefault("response_checksum_validation", "when_required")
    fs.config_kwargs = config
    return fs


def _share_models(fs: Any, *, afresh: bool) -> None:
    """Give a session of our own the process's models: to parse them anew took most of the time
    of making a client, 45 to 80 ms of it. A session that the caller gave stays as it is."""
    from aiobotocore.session import AioSession

    if afresh:
        fs._s3 = None
    if fs.session is None or (afresh and fs._session_is_owned):
        fs.session, fs._session_is_owned = AioSession(**fs.kwargs), True
        loader = _models(fs.session.get_config_variable("data_path"))
        fs.session.register_component("data_loader", loader)


@functools.cache
def _models(data_path: str | None) -> Any:
    from botocore.loaders import create_loader

    return create_loader(data_path)


def _to_region(builtins: dict[str, object], **_: object) -> None:
    """Make botocore resolve the host of the region at hand, never the global one."""
    region = _REGION.get("")
    if region:
        builtins["AWS::Region"] = region
        builtins["AWS::S3::UseGlobalEndpoint"] = False


def _no_signer(**_: object) -> object:
    """Leave a url unsigned whose root alone is wanted; nothing else."""
    from botocore import UNSIGNED

    return UNSIGNED if _REGION.get("") else None


def _expiry(credentials: object) -> float | None:
    # botocore tells the end of refreshable credentials nowhere else.
    ends = getattr(credentials, "_expiry_time", None)
    return ends.timestamp() if ends is not None else None


def _proxy(proxies: Mapping[str, str] | None, endpoint: str) -> str | None:
    """The proxy for the endpoint's scheme; a bare host and port is one that speaks http."""
    if proxies is None:
        return proxy_of_environment(endpoint)
    found = proxies.get(endpoint.partition(":")[0])
    if not found or "://" in found:
        return found or None
    return f"http://{found.removeprefix('//')}"


def credentials_failure(error: Exception) -> StoreError | RequestError:
    """What an exception of botocore before any request means; no secret is left in its words."""
    from botocore import exceptions as they

    said = f"{type(error).__name__}: {_SECRETS.sub('...', str(error))[:200]}"
    if isinstance(error, they.NoCredentialsError):
        return Denied(
            "no credentials were found: pass key and secret, or anon=True for a public bucket"
        )
    if isinstance(error, they.ParamValidationError | they.UnknownEndpointError | TypeError):
        return RequestError(f"this bucket or these options cannot be: {said}")
    if isinstance(error, they.BotoCoreError):
        return Denied(f"no usable credentials or settings: {said}")
    return RefusedForGood(f"S3 could not be set up: {said}")
