"""The lineage service: takes OpenLineage events, answers questions about them, serves the page.

From the top down; import-linter holds that nobody imports upwards:

app         create_app, which wires everything; config: the service's settings
routes      from requests to views, one file a resource; specification: the OpenAPI page
gate        access control: who calls, what they may do, what they may see of the answer
graphql     the graph as GraphQL, read only; writing: writes over the API
views       from knowledge to the JSON of an answer, one file a resource
request     what routes read from a request: access, node ids, bodies
ingest      from bytes to the log; feed: live changes (SSE); past: state as of a time; log: proofs and retention
metrics     Prometheus metrics
knowledge   the read model: the graph with its caches and indexes
tallies     totals over all jobs and datasets, kept up to date with events
http        requests and answers, independent of their content
shapes      the JSON of answers, as types
background  long work in time slices; logs: logging to standard error
pages       serves the built page (in `page`), or a notice if it is not built
"""
