package headwater.connect;

import headwater.signing.Drops;
import java.util.ArrayDeque;
import java.util.Deque;

/** A bounded queue of events waiting for delivery; when it is full, the oldest is dropped. */
final class Outbox implements EmissionMXBean {
  /**
   * An unsigned event in canonical form, of a connector. It is signed just before delivery, so that
   * a dropped event leaves no gap in the chain. `signing` is null if it is sent unsigned.
   */
  record QueuedEvent(String connector, byte[] event, Settings.Signing signing) {}

  private final int capacity;
  private final Drops drops = new Drops();
  private final Deque<QueuedEvent> waiting = new ArrayDeque<>();
  private QueuedEvent inFlight;
  private long sent;
  private long dropped;
  private long refused;

  Outbox(int capacity) {
    this.capacity = capacity;
  }

  synchronized void put(QueuedEvent queued) {
    if (waiting.size() >= capacity) {
      waiting.removeFirst();
      dropped++;
      drops.count("queue full");
    }
    waiting.addLast(queued);
  }

  /**
   * The oldest event; null if empty. It stays until {@link #sent} or {@link #refused}, and is not
   * dropped: it may be signed already.
   */
  synchronized QueuedEvent first() {
    if (inFlight == null) {
      inFlight = waiting.pollFirst();
    }
    return inFlight;
  }

  synchronized boolean isEmpty() {
    return inFlight == null && waiting.isEmpty();
  }

  /** The counts of dropped and refused events. */
  Drops drops() {
    return drops;
  }

  /** Removes the oldest event: it was delivered. */
  synchronized void sent() {
    inFlight = null;
    sent++;
  }

  /** Removes the oldest event: it was refused, or cannot be signed. */
  synchronized void refused() {
    inFlight = null;
    refused++;
    drops.count("refused");
  }

  @Override
  public synchronized long getlineage_events_sent_total() {
    return sent;
  }

  @Override
  public synchronized long getlineage_events_dropped_total() {
    return dropped;
  }

  @Override
  public synchronized long getlineage_events_refused_total() {
    return refused;
  }

  @Override
  public synchronized int getlineage_events_waiting() {
    return waiting.size() + (inFlight == null ? 0 : 1);
  }
}
