"""What whoever runs a service decides about it."""

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
    """How one service is run."""

    require_signed: bool = False
    """Whether events without a good signature by a trusted key are refused."""
    body_limit: int = DEFAULT_LIMIT
    """Bytes of one request's body."""
    page: Path | None = BUILT_PAGE
    """The folder of the built page."""
    kept_mb: float = DEFAULT_KEPT_MB
    """Memory that the pasts take together that are kept."""
    records_in_process: bool = False
    """Whether a process beside this one reads and stores events, to which the store is lent."""
    retain_raw_days: int | None = None
    """Raw bytes move to segments after so many days; None: never."""
    tokens: Path | None = None
    """The folder of the one-time tokens by which keys are enrolled; None: none are."""
    entrance: "Entrance | None" = None
    """Who asks who calls; None: whoever asks may do everything."""
    hosts: frozenset[str] | None = None
    """Where nobody is asked: the service is for this machine, known by these names, too; None: for whoever asks."""
    witnesses: Enrolled = field(default_factory=Enrolled)
    """Of these alone co-signatures are kept."""
