"""Headwater as a producer: its URI, and where its own facets are described."""

from importlib.metadata import version
from typing import Final

VERSION: Final = version("headwater")
PRODUCER: Final = f"https://headwater.dev/producer/{VERSION}"
API_PRODUCERS: Final = "https://headwater.dev/producer/api/"
API_PRODUCER: Final = f"{API_PRODUCERS}{VERSION}"
"""The producer of events and facets that record what was put over the API."""
HEADWATER_FACETS: Final = "https://headwater.dev/spec/facets/1-0-0"
"""Our own facet `X` is described at `HEADWATER_FACETS/X.json`."""
SIGNATURE_MEMBERS: Final = frozenset({"algorithm", "keyId", "payloadHash", "signature", "_producer", "_schemaURL"})
"""The members of our `signature` facet: with one more or one fewer it is not ours."""

OPENLINEAGE_SCHEMA: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
