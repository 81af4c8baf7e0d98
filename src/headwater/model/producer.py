"""Who we are in an event: the producer's URI and where our own facets are described."""

from importlib.metadata import version
from typing import Final

VERSION: Final = version("headwater")
PRODUCER: Final = f"https://headwater.dev/producer/{VERSION}"
API_PRODUCERS: Final = "https://headwater.dev/producer/api/"
API_PRODUCER: Final = f"{API_PRODUCERS}{VERSION}"
"""Who we are in events and facets that say what was put over the API."""
HEADWATER_FACETS: Final = "https://headwater.dev/spec/facets/1-0-0"
"""Facet `X` of our own is described at `HEADWATER_FACETS/X.json`."""
SIGNATURE_MEMBERS: Final = frozenset({"algorithm", "keyId", "payloadHash", "signature", "_producer", "_schemaURL"})
"""All that our facet `signature` has: with one more or one less it is none."""

OPENLINEAGE_SCHEMA: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
