"""What the service knows, as its views ask for it: graph, store, and what is kept of both from answer to answer.

knowledge   graph and store together: who is known, by which name
mentions    whom the facts of an event are about; touched: who that is in a graph
learning    what was known before an event, and what is new after it
in_step     what is kept, told what an event changed
activity    a job's runs, newest first; activities: kept from answer to answer
spoken      when runs spoke; tellers: the runs that tell of a job, by that
facet_views  what facets say, each read once
job_type    the type of a job
versions    the versions of a dataset and of a job
lifecycle   what was done to a dataset as a whole
gaps        what is known to be missing; verdicts: how signatures fared
history     the past of runs, as the walk to a root cause asks for it; run_records: what they told
listing     names by the texts in them
rendered    parts of answers, kept until what they tell of changes; kept: how anything is, up to a size
"""
