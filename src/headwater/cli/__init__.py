"""The `headwater` command. The only room that wires the others together and configures logging.

main            the command: its subcommands, its logging, its error reporting

A module per subcommand, under its name:

    demo            the main features in one command
    run             runs a pipeline file on Spark; lint: warnings about pipeline files
    agent           the edge agent; job: its jobs; execution: their executions
    serve           the lineage service
    store           operations on a whole store; log: on the log alone; cosign: witnesses sign its head
    access          API keys of the service
    trace           where data comes from; impact: what a change reaches
    root_cause      why it is wrong; diff: what is different; drift: schemas that changed; coverage: known gaps
    audit           a part of the log in one file, and its check
    verify          verifies events in files; key: this machine's key; witness: signs the head of another's log
    node            the edge machines
    ship            sends files of events to a service
    watch           watchers of engines that do not report their lineage themselves
    flink           submits a job to Flink; sql: a query by DuckDB; dashboards: declares dashboards
    lab             real components on this machine

Shared code:

    service_client  a client of a lineage service; agent_client: a client of this machine's agent
    http_client     certificates and proxies from the environment, and messages about failed requests
    search          finds datasets by name; lineage_walk: walks the lineage from there, over a service's answers
    folded_walk     a walk for people, with many columns of a dataset folded into one node
    events_to       the endpoint of a command's events; stale_declarations: dashboards jobs to withdraw
    web_address     validates the URL of a web server; signals: SIGTERM and Ctrl-C
    audit_trust     the keys and heads that an auditor trusts
    audit_lineage   what a dataset is made from by a bundle, as text
    certificate     the TLS certificate of a server, reloaded when it is renewed
    misplaced       warns of log rows whose time or run differs from the event's bytes
    log_key         the key that signs the log's heads; export_note: records an export in the log
    who             the user at the command line
    option_values   validates option values; errors name the option or variable
    json_output     output for scripts; printed: output for people; progress: of long work
    exit_status     the exit statuses of all commands
"""
