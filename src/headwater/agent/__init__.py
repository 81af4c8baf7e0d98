"""The edge agent: many pipelines on one machine, from their deployment to the last event of each run.

    states.py     an execution and what may happen to it: a pure state machine
    planning.py   when a job is to start next, and how long to wait after failures: pure
    store.py      jobs, versions, executions and transitions in SQLite
    endpoints.py  which endpoints a pipeline names, and which of them a region allows; databases.py: by JDBC: pure
    config.py     the agent's own file
    deploying.py  a pipeline's text, checked for this agent
    deployed.py   the jobs, with their pipelines as they are checked now
    messages.py   what the agent and its worker say to each other; worker_settings.py: what it is started with
    engine.py     the worker as the agent sees it: a process that is started when needed, and may die
    worker.py     the worker: the one process with Spark; runs executions, watches their lineage
    outcomes.py   how executions ended, on disk until the agent has recorded it
    leftovers.py  what executions left that are over, sent on; deliveries.py: what became of events, by run
    logs.py       the log of each execution
    closing.py    the last events of a run that ended without a word
    loop.py       decides by the pure parts, records, and only then acts
    api.py        the control API; guard.py: who may ask it; shapes.py: its answers
    program.py    wires them: sockets, signals, locks

    cli ──unix socket──▶ api ──▶ loop ──▶ store
    curl ──http, token──▶         │ ▲
                                  ▼ │ JSON lines
                                worker (Spark's JVM below it)

The agent itself never imports Spark, so it stays small and lives on when Spark's JVM dies. The worker starts with the
first execution and ends when it has been idle; it dies with its agent.
"""
