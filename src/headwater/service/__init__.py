"""The lineage service: takes OpenLineage events, answers questions about them, serves the page.

app         put together: create_app
ahead       work done while nobody asks
reading     an event's bytes read: parsed, verified, made ready
recording   events read and stored: what is asked of whoever does it, and how it is done here
recorder_beside    it is done by a process: the service's side; recording_process: that process
recording_messages what the two say to each other
intake      an event in: read, verified, stored, in the graph, and only then acknowledged
batch       many events in one body, cut apart
body        a request's body, up to a limit
bodies      what may be sent to be written, as types
writing     what is written over the API: events of our own, or edits
feed        tells listeners what each stored event touched
knowledge   graph and store as the reading routes use them: who is known, by which name; node_ids: what a node id means
facet_views what facets say, each read once
as_of       which events a read counts: its parameters asOf and logSize
past        what would be known, had only those come; cut: out of what is known now; replay: out of the log
then        what was known, beside what is known now; older: what was told anew since
mentions    whom the facts of an event are about; touched: who that is in a graph
activity    a job's runs, newest first
versions    the versions of a dataset and of a job
history     the past of runs, as the walk to a root cause asks for it
shapes      the JSON that goes out, as types; shapes_lineage: graphs; shapes_overview: numbers; others: of questions
listing     names by the texts in them
tallies     what all jobs and all datasets come to: numbers, orders, namespaces, sources
ordered     sets in their order, times by group; spoken: when runs spoke
rendered    parts of answers, kept until what they tell of changes
views       from knowledge to shapes, one file a resource
graphql     the graph as GraphQL, read only
routes      from requests to views, one file a resource
answers     JSON responses, times
failures    every error in one shape
paths       names in paths, which may hold slashes
retention   old raw events move out of the database
metrics     what Prometheus sees                 logs        what is told on standard error
pages       the built page (in `page`), or a sentence where there is none
access      how routes get at the service
"""
