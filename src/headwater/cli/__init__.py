"""The `headwater` command. The only room that wires the others together and configures logging.

main            the command: its subcommands, its logging, how its errors are told

A module a subcommand, under its name:

    demo            the main job in one command
    run             a pipeline file on Spark; lint: what it would be better without
    agent           the edge agent; job: what it is to run; execution: what it runs and has run
    serve           the lineage service
    store           what is done with a whole store; log: with the log alone; cosign: witnesses sign its head
    access          who may ask the service what
    trace           where data comes from; impact: what a change reaches
    root_cause      why it is wrong; diff: what is different; drift: schemas that changed; coverage: known gaps
    audit           a part of the log in one file, and its check
    verify          events in files against keys; key: this machine's own; witness: signs somebody else's log
    node            the edge machines
    ship            events in files, to a service
    watch           what engines do that do not tell it themselves
    flink           a job to a Flink cluster; sql: a query by DuckDB; dashboards: who owns them, what they read
    lab             real components on this machine

What these share:

    service_client  asks a lineage service; agent_client: asks this machine's agent
    http_client     by which certificates and proxies they ask, and why no answer came
    search          finds what goes by a name; lineage_walk: walks from there, over a service's answers
    folded_walk     a walk for people, with many columns of a dataset as one
    events_to       where a command posts the events that it tells; dashboards_before: what earlier pushes told
    web_address     an address of a web server that was typed
    audit_trust     what an auditor knows from elsewhere
    certificate     what a server shows over TLS, and takes anew once it is renewed
    misplaced       what a database has under another time or run than its bytes say
    log_key         the key that signs the log's heads; export_note: an export is an entry of the log
    who             sits at the command line
    said            by what a value was said, for the error about it
    json_output     what a script reads; printed: what people read; progress: what they see of long work
    exit_status     what a script may conclude
"""
