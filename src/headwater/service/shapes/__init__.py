"""The JSON of answers, as types.

marquez     Marquez's shapes: jobs, datasets, runs, namespaces, tags, sources, events, errors; edits
lineage     graphs: jobs and datasets around a node, columns, the runs upstream of a run
batch       the answer to a batch of events; log: receipts and proofs
evidence    identity, quality over time, control flow, silent streams, data flow
causes      `/root-cause`; impact: `/impact`; diff: `/diff`; drift: `/drift`; coverage: `/coverage`
nodes       `/nodes`; overview: summary, quarantine, health
access      `/access`; keys: `/keys`
"""
