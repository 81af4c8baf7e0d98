"""Event emission: a queue that never blocks, a spool on disk that survives crashes, and two transports.

    put ─▶ queue ─▶ worker: sign, spool ─┬▶ backlog ─▶ courier ─▶ http
             ╰─(full)─▶ overflow ─╯      ╰▶ backlog ─▶ courier ─▶ file

    emitter.py    Emitter: put, drain, close, stats; the worker thread, which signs in the order of the puts
    intake.py     Intake: the bounded queue in memory, and its overflow
    chain.py      Chain: numbers and signs events in the node's hash chain, and persists its head; survives kill -9
    heartbeats.py   Heartbeats: decides when the emitter sends heartbeats and gap records of its own
    overflow.py   Overflow: a file that takes unsigned events while the queue is full
    lines.py      the lines of such a file, also around a bad sector
    courier.py    Courier: one thread per transport, which sends the head of its backlog until it is acknowledged
    backlog.py    Backlog: all events that wait for one target, oldest first: adopted spools, our own, and memory
    spool.py      Spool: signed events in an SQLite file; survives kill -9
    claim.py      Claim: a directory locked by one process; another may take it over once that process is dead
    spool_paths.py   paths in the spool directory, and whether events are left there
    observed.py   ObservedTransport: a transport with a callback for each outcome
    transport.py  the transport protocol, and the three outcomes of a delivery
    http.py       POST to a service                file.py      append to a JSONL file, rotated by size
    shipment.py   sends the files of the file transport to a service later, from any machine
    shipment_marks.py   how far each was sent      shipment_order.py   in which order they were written
    receipts.py   Receipts: the newest proof that a service has our events, and the head it leads to
    log_keys.py   the key with which the service's log signs, as this node pinned it
    retry.py      how long to wait before the next try
    metrics.py    the counters, for Prometheus and for `Emitter.stats`
    config.py     the `lineage:` block of a pipeline file, typed
    home.py       the directory of this machine's keys, database, spool and lake

What can be lost: an event of 10 kB is on disk 0.6 ms after its put (median; the worker signs and spools 2,000 to 3,700
a second). Kill -9 loses the events put within that time and, in a burst that outruns the worker, those in the queue;
the overflow is on disk. A power cut may lose the last seconds, since the spool is not synced on every event. Events put
before `Emitter.secure` survive it; the agent calls that at the end of each run. Events delivered just before a kill are
delivered again: delivery is at least once and in order, for each transport by itself.
"""
