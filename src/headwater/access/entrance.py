"""The objects with which the service authenticates and authorizes callers, assembled once."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from headwater.access.config import AccessConfig
from headwater.access.key_set import ProviderKeys
from headwater.access.oidc import Provider
from headwater.access.policy import Policy
from headwater.errors import InvalidInputError, SetupError


class Entrance(NamedTuple):
    """The rules, and the identity provider if there is one."""

    policy: Policy
    provider: Provider | None = None


def entrance(config: AccessConfig, cache: Path, now_us: Callable[[], int]) -> Entrance:
    """Assemble it; `cache` is the file that caches a provider's keys.

    Raises:
        SetupError: the rules cannot be read.
    """
    try:
        policy = Policy("" if config.policies is None else config.policies.read_text())
    except OSError as fault:
        raise SetupError(f"policies: {config.policies}: {fault.strerror}") from fault
    except (UnicodeDecodeError, InvalidInputError) as fault:
        raise SetupError(f"policies: {config.policies}: {fault}") from fault
    if config.oidc is None:
        return Entrance(policy)
    keys = ProviderKeys(config.oidc.issuer, config.oidc.jwks, config.oidc.refresh_s, cache, time.monotonic)
    return Entrance(policy, Provider(config.oidc, keys, now_us))
