"""Names of a node's own job. A module of its own, since emitters need nothing else of the event model."""

from typing import Final

from headwater.model.producer import HEADWATER_FACETS

NODES: Final = "headwater-nodes"
"""The namespace of the nodes' own jobs, each named by the node's id; a run of such a job is an epoch."""

HEARTBEAT: Final = "headwater_heartbeat"
HEARTBEAT_SCHEMA: Final = f"{HEADWATER_FACETS}/headwater_heartbeat.json"
