"""The JSON that goes out, as types.

marquez     what Marquez answers with too: jobs, datasets, runs, namespaces, tags, sources, events, errors; edits
lineage     graphs: jobs and datasets around a node, columns, the runs upstream of a run
batch       what is answered for a batch of events; log: receipts and proofs
evidence    why names are one, quality over time, what waits for what, who is silent, how data flows
causes      `/root-cause`; impact: `/impact`; diff: `/diff`; drift: `/drift`; coverage: `/coverage`
nodes       `/nodes`; overview: numbers, what could not be placed, how the service is
access      `/access`; keys: `/keys`
"""
