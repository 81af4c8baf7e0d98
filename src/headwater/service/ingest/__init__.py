"""From bytes to the log: an event is read, verified, stored, in the graph, and only then acknowledged.

intake      an event in, and what is answered for it
batch       many events in one body, cut apart
unlearned   events that the graph cannot learn now
reading     an event's bytes read: parsed, verified, made ready; mistrust: what is said where a signature does not count
recording   events read and stored: what is asked of whoever does it, and how it is done here

It is done by a process beside the service:

recorder_beside     the service's side; tickets: who waits for what became of which event
process_beside      that process as the service holds it
recording_process   what runs in it; recording_sockets: what it hears and says
recording_messages  what the two sides say to each other

What they say, in its order; what is asked (===) goes over a socket of its own, and is answered before events:

    service (recorder_beside)                    process (recording_process)

    OpenStore(handover) ======= asks =============>  opens the store
                    <==========================  what it knows of the log, or why it cannot
    RelyOn(keys) ----------------------------->
    ReadAndStore(ticket, bytes) -------------->  reads, verifies, stores it with others in one transaction
        where its sender may perhaps not bring it, it is held first:
                    <--------------------------  Recorded(held)
        StoreOrForget(ticket) ---------------->  stores it, or forgets it
    StoreRead(ticket, entry) ----------------->  stores what the service has read, for the process has much to do
                    <--------------------------  Recorded(outcomes, news, growth)
    learns it, then answers for the ticket
    StoreFacts, EmptyRows(places) === asks ===>  does it
                    <==========================  the answer
    End -------------------------------------->  stores what came before, and ends
"""
