"""Events on their way out: a queue that never blocks, a spool that forgets nothing, and the two transports.

    put ─▶ queue ─▶ worker: sign, spool ─┬▶ backlog ─▶ courier ─▶ http
             ╰─(full)─▶ overflow ─╯      ╰▶ backlog ─▶ courier ─▶ file

    emitter.py    Emitter: put, drain, close, stats; the worker thread, which signs in the order of the puts
    intake.py     the way in: the queue, and what runs over from it
    chain.py      Chain: the events' places in the node's record, and where that stands; survives kill -9
    pulse.py      Pulse: when the emitter speaks for itself, in heartbeats and records of gaps
    overflow.py   where a full queue runs over: unsigned events in a file, until the worker gets to them
    courier.py    Courier: one thread a transport, which sends the head of its backlog until it is acknowledged
    backlog.py    Backlog: all that waits for one target, oldest first: adopted spools, our own, and memory
    spool.py      Spool: signed events in an SQLite file; survives kill -9
    claim.py      Claim: a directory that is ours while we live, and anybody's once we are dead
    places.py     where in the spool directory what is, and whether anything is left there
    observed.py   a transport that somebody looks at
    transport.py  what a transport promises, and the three ways a delivery ends
    http.py       POST to a service                file.py      append to a JSONL file, rotated by size
    shipment.py   what the file transport wrote, sent later and from elsewhere
    shipment_marks.py   how far that is            shipment_order.py   in which order it was written
    receipts.py   Receipts: the newest proof that a service has our events, and the head it leads to
    retry.py      how long to wait before the next try
    metrics.py    what is counted, for Prometheus and for `Emitter.stats`
    config.py     the `lineage:` block of a pipeline file, typed
    home.py       where this machine's own things are

What can be lost: an event of 10 kB is on disk 0.6 ms after its put (median; the worker signs and spools 2,000 to 3,700
a second). Kill -9 loses what was put within that time; in a burst that outruns the worker, what is in the queue, while
what ran over is on disk. A power cut may lose the last seconds, since the spool is not synced on every event, but for
what was put before `Emitter.secure`, which the agent calls at the end of each run. What was delivered just before a
kill is delivered again: at least once, in order, for each transport by itself.
"""
