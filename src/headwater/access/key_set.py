"""The public keys of an identity provider: fetched, refreshed, and cached for when the provider is away."""

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx
from joserfc.errors import JoseError
from joserfc.jwk import Key, KeySet, import_key

from headwater.errors import UnavailableError

log = logging.getLogger(__name__)

_TIMEOUT_S: Final = 5.0
_AGAIN_AFTER_S: Final = 30.0
"""The shortest time between fetches after a failure, or because of an unknown key id."""
_MAX_BYTES: Final = 1_000_000
_TIMES_TOO_OLD: Final = 2
"""Keys older than this many refresh intervals are not used without waiting for a fetch."""


class ProviderKeys:
    """The provider's current keys; used only on the event loop's thread."""

    def __init__(
        self, issuer: str, source: str, refresh_s: float, cache: Path | None, now_s: Callable[[], float]
    ) -> None:
        """Fetch nothing yet.

        `cache` is the file for a URL's last good answer, for a start without the provider; that of another URL, or for
        another issuer, does not count.
        """
        self._source = source
        self._origin = {"issuer": issuer, "jwks": source}
        self._refresh_s = refresh_s
        self._cache = cache if "://" in source else None
        self._now_s = now_s
        self._keys: KeySet | None = None
        self._tried_s = float("-inf")
        self._fetching: asyncio.Task[None] | None = None

    async def holding(self, key_id: str | None) -> KeySet:
        """The keys, fetched again if none has this id.

        Raises:
            UnavailableError: no keys were ever fetched.
        """
        if self._keys is None:
            self._keys = self._cached()
        age_s = self._now_s() - self._tried_s
        if not self._has(key_id):
            if age_s >= _AGAIN_AFTER_S:
                self._fetch()
            if self._fetching is not None:
                await asyncio.shield(self._fetching)
        elif age_s >= self._refresh_s:
            self._fetch()  # the current keys are used meanwhile
            if age_s >= _TIMES_TOO_OLD * self._refresh_s and self._fetching is not None:
                await asyncio.shield(self._fetching)  # unused for long: a key may have been withdrawn since
        if self._keys is None:
            raise UnavailableError("the identity provider's keys cannot be read now, so its tokens cannot be checked")
        return self._keys

    def _has(self, key_id: str | None) -> bool:
        return self._keys is not None and (key_id is None or any(key.kid == key_id for key in self._keys.keys))

    def _fetch(self) -> None:
        if self._fetching is None or self._fetching.done():
            self._tried_s = self._now_s()
            self._fetching = asyncio.create_task(self._fetched())

    async def _fetched(self) -> None:
        try:
            text = await self._read()
            self._keys = _parsed(text)
            if self._cache is not None:
                self._cache.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._cache.write_text(json.dumps({**self._origin, "answer": text.decode()}))
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, JoseError) as fault:
            why = f"{type(fault).__name__}: {fault}"
            log.warning("the identity provider's keys cannot be read", extra={"jwks": self._source, "fault": why})

    async def _read(self) -> bytes:
        if "://" not in self._source:
            return Path(self._source).read_bytes()  # noqa: ASYNC240  a few kB, from time to time
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, follow_redirects=False) as client:
            answer = await client.get(self._source)
            answer.raise_for_status()
            if len(answer.content) > _MAX_BYTES:
                raise ValueError("the answer is too large for a key set")
            return answer.content

    def _cached(self) -> KeySet | None:
        try:
            match None if self._cache is None else json.loads(self._cache.read_bytes()):
                case {"answer": str(answer), **origin} if origin == self._origin:
                    return _parsed(answer.encode())
        except (OSError, ValueError, RecursionError, JoseError):
            pass
        return None


def _parsed(text: bytes) -> KeySet:
    """The keys of a set; unreadable ones are skipped.

    Raises:
        ValueError: it is not a key set, or no key in it can be read.

    Source: RFC 7517, section 5
    """
    try:
        key_set = json.loads(text)
    except RecursionError as fault:
        raise ValueError("nested too deeply for a key set") from fault
    if not isinstance(key_set, dict) or not isinstance(key_set.get("keys"), list):
        raise ValueError("not a JSON Web Key Set")
    keys = [key for each in key_set["keys"] if (key := _key(each)) is not None]
    if not keys:
        raise ValueError("no key in the set can be read")
    return KeySet(keys)


def _key(jwk: object) -> Key | None:
    if not isinstance(jwk, dict) or jwk.get("use", "sig") != "sig":
        return None
    try:
        return import_key(jwk)
    except (LookupError, TypeError, ValueError, JoseError) as fault:  # an unknown curve is a KeyError
        about = {"kid": jwk.get("kid"), "kty": jwk.get("kty"), "fault": type(fault).__name__}
        log.warning("ignoring a key of the identity provider that cannot be read", extra=about)
        return None
