"""The settings of a service."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.service.http.body import DEFAULT_LIMIT
from headwater.service.log.cosignatures import Enrolled
from headwater.service.pages import BUILT_PAGE
from headwater.service.past.pasts import DEFAULT_KEPT_MB

if TYPE_CHECKING:
    from headwater.access.entrance import Entrance


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceConfig:
    """The settings of one service."""

    require_signed: bool = False
    """Refuse events without a good signature by a trusted key."""
    body_limit: int = DEFAULT_LIMIT
    """Limit on one request's body, in bytes."""
    page: Path | None = BUILT_PAGE
    """The folder of the built page."""
    kept_mb: float = DEFAULT_KEPT_MB
    """Memory for all cached pasts together, in MB."""
    records_in_process: bool = False
    """Read and store events in another process, which takes over writing to the store."""
    retain_raw_days: int | None = None
    """Move raw bytes to segments after so many days; None: never."""
    tokens: Path | None = None
    """The folder of one-time tokens for enrolling keys; None: keys cannot be enrolled."""
    entrance: "Entrance | None" = None
    """Identifies callers; None: every caller may do everything."""
    hosts: frozenset[str] | None = None
    """Without access control: serve only this machine, under its own or these host names; None: serve everybody."""
    witnesses: Enrolled = field(default_factory=Enrolled)
    """The witnesses whose co-signatures are kept."""
