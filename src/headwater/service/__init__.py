"""The lineage service: takes OpenLineage events, answers questions about them, serves the page.

From the top down; import-linter holds that nobody imports upwards:

app         put together: create_app; config: what whoever runs it decides
routes      from requests to views, one file a resource; specification: the OpenAPI page
gate        who asks, may they, and what may they see of the answer
graphql     the graph as GraphQL, read only; writing: what is written over the API
views       from knowledge to what goes out, one file a resource
request     what routes ask for: access, node ids, bodies
ingest      from bytes to the log; feed: what listeners are told; past: what was known; log: as others check it
metrics     what Prometheus sees
knowledge   what the service knows, as its views ask for it
tallies     what jobs and datasets come to, kept in step with events
http        requests and answers, whatever they are about
shapes      the JSON that goes out, as types
ahead       work in slices, done while nobody asks; logs: what is told on standard error
pages       the built page (in `page`), or a sentence where there is none
"""
