"""The edge agent: many pipelines on one machine, from their deployment to the last event of each run.

    states.py     the state machine of an execution: pure
    planning.py   when a job is to start next, and the backoff after failures: pure
    store.py      jobs, versions, executions and transitions in SQLite
    endpoints.py  the endpoints that a pipeline uses, and whether a region allows them; databases.py: JDBC URLs;
                  sql_addresses.py: SQL texts: pure
    config.py     the agent's configuration file
    deploying.py  validates a pipeline's text for this agent
    deployed.py   the deployed jobs, with their pipelines as validated now
    messages.py   the protocol between agent and worker; worker_settings.py: the worker's settings
    engine.py     the worker's process as the agent sees it: started when needed, may die
    worker.py     the worker: the one process with Spark; runs executions, watches their lineage
    outcomes.py   outcomes of executions, on disk until the agent has recorded them
    leftovers.py  sends events that ended executions left in spools; deliveries.py: delivery counts by run
    logs.py       the log of each execution
    closing.py    the terminal events of runs whose worker died
    loop.py       the event loop: decides by the pure parts, records, and only then acts
    api.py        the control API; guard.py: its authentication; shapes.py: its answers
    program.py    wires them: sockets, signals, locks

    cli ──unix socket──▶ api ──▶ loop ──▶ store
    curl ──http, token──▶         │ ▲
                                  ▼ │ JSON lines
                                worker (Spark's JVM below it)

The agent itself never imports Spark, so it stays small and survives the death of Spark's JVM. The worker starts with
the first execution and ends after an idle time; it dies with its agent.
"""
