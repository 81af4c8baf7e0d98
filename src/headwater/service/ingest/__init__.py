"""From bytes to the log: an event is read, verified, stored, in the graph, and only then acknowledged.

intake      an event in, and what is answered for it
batch       many events in one body, cut apart
reading     an event's bytes read: parsed, verified, made ready; mistrust: what is said where a signature does not count
recording   events read and stored: what is asked of whoever does it, and how it is done here
recorder_beside    it is done by a process: the service's side
process_beside     that process as the service holds it; recording_process: what runs in it
recording_messages  what the two sides say to each other
"""
