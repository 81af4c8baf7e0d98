"""From bytes to the log: an event is parsed, verified, stored and learned by the graph before it is acknowledged.

intake      takes events in, and answers for them
batch       splits a body of many events
learn_retries  events stored but not learned by the graph, retried
reading     parses and verifies an event, extracts its facts; remedies: what to do about a rejected signature
recording   the interface for reading and storing events, and the recorder within this process

The recorder in another process:

remote_recorder     the service's side; tickets: requests awaiting the outcome of their events
process_handle      starts, talks to and ends that process
recording_process   what runs in it; recording_sockets: its side of the sockets
recording_messages  the messages between the two

The protocol, in order; requests (===) use a socket of their own, and are answered ahead of events:

    service (remote_recorder)                    process (recording_process)

    OpenStore(handover) === asks =============>  opens the store
                    <==========================  what it knows of the log, or why it cannot
    SetTrust(keys) --------------------------->
    ReadAndStore(ticket, bytes) -------------->  reads, verifies, stores it with others in one transaction
        if the sender must be authorised first, it is held:
                    <--------------------------  Recorded(held)
        StoreOrForget(ticket) ---------------->  stores it, or forgets it
    StoreRead(ticket, entry) ----------------->  stores what the service has read, while the process is busy
                    <--------------------------  Recorded(outcomes, news, growth)
    learns it, then answers the ticket
    StoreFacts, EmptyRows(range) === asks ===>  does it
                    <==========================  the answer
    End -------------------------------------->  stores what came before, and ends
"""
