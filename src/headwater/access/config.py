"""`access.yaml`: the identity provider, and additional rules."""

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from headwater.errors import SetupError


class OidcConfig(BaseModel):
    """The identity provider whose bearer tokens are accepted, and the meaning of their claims."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: Annotated[str, Field(min_length=1, description="The exact value of `iss`.")]
    audience: Annotated[str, Field(min_length=1, description="The required value of `aud`, or one of its values.")]
    jwks: Annotated[
        str, Field(min_length=1, description="The provider's keys: an https:// URL, or a file beside access.yaml.")
    ]
    leeway_s: Annotated[int, Field(ge=0, le=600, description="The allowed clock skew.")] = 60
    refresh_s: Annotated[int, Field(ge=1, description="How often the keys are fetched again.")] = 600
    name_claim: Annotated[str, Field(description="The caller's name.")] = "sub"
    roles_claim: Annotated[str, Field(description="A role, or a list of them.")] = "headwater_roles"
    scopes_claim: Annotated[str, Field(description="Patterns of namespaces: a list, or one text.")] = "headwater_scopes"
    nodes_claim: Annotated[str, Field(description="Patterns of nodes; without it, any.")] = "headwater_nodes"
    restricted_claim: Annotated[str, Field(description="true: may know restricted columns.")] = "headwater_restricted"


class AccessConfig(BaseModel):
    """The sources of access other than API keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    oidc: OidcConfig | None = None
    policies: Annotated[Path | None, Field(description="Rules of your own, in Cedar; beside access.yaml.")] = None


def read_config(path: Path) -> AccessConfig:
    """Read `access.yaml`; without the file, only API keys are accepted.

    Raises:
        SetupError: it cannot be read; the message names the field.
    """
    if not path.exists():
        return AccessConfig()
    try:
        config = AccessConfig.model_validate(yaml.safe_load(path.read_text()) or {})
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        where = "" if mark is None else f":{mark.line + 1}:{mark.column + 1}"
        raise SetupError(f"{path}{where}: not YAML: {fault.problem}") from fault
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as fault:
        raise SetupError(f"{path}: cannot be read ({type(fault).__name__})") from fault
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        raise SetupError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if config.policies is not None:
        config = config.model_copy(update={"policies": path.parent / config.policies})
    if config.oidc is None or _cannot_be_forged(config.oidc.jwks):
        return config
    if "://" in config.oidc.jwks:
        raise SetupError(
            f"{path}: oidc.jwks: expected an https:// URL, or a file: keys from elsewhere can be forged on the way; "
            "http:// is only for localhost"
        )
    return config.model_copy(update={"oidc": _with_key_file(config.oidc, path)})


def _cannot_be_forged(url: str) -> bool:
    """Whether only the host of this URL can have sent what is read from it."""
    try:
        scheme, host = urlsplit(url).scheme, urlsplit(url).hostname or ""
        return scheme == "https" or (scheme == "http" and (host == "localhost" or ip_address(host).is_loopback))
    except ValueError:
        return False


def _with_key_file(oidc: OidcConfig, path: Path) -> OidcConfig:
    file = path.parent / oidc.jwks
    if not file.is_file():
        raise SetupError(
            f"{path}: oidc.jwks: there is no file {file}; expected the https:// URL of the provider's keys, or a file"
        )
    return oidc.model_copy(update={"jwks": str(file)})
