package headwater.connect;

import headwater.signing.Drops;
import java.util.ArrayDeque;
import java.util.Deque;

/** A bounded queue of events that wait for delivery; when it is full, the oldest is dropped. */
final class Outbox implements EmissionMXBean {
  /**
   * An event in canonical form, of a connector; it is signed once it is its turn, so that what is
   * dropped before has no place in the chain. `signing` is null for one that goes unsigned.
   */
  record Letter(String connector, byte[] event, Settings.Signing signing) {}

  private final int capacity;
  private final Drops drops = new Drops();
  private final Deque<Letter> waiting = new ArrayDeque<>();
  private Letter underway;
  private long sent;
  private long dropped;
  private long refused;

  Outbox(int capacity) {
    this.capacity = capacity;
  }

  synchronized void put(Letter letter) {
    if (waiting.size() >= capacity) {
      waiting.removeFirst();
      dropped++;
      drops.count("queue full");
    }
    waiting.addLast(letter);
  }

  /**
   * The oldest; null for none. It stays until it is said what became of it, and is not dropped: it
   * may be signed.
   */
  synchronized Letter first() {
    if (underway == null) {
      underway = waiting.pollFirst();
    }
    return underway;
  }

  synchronized boolean isEmpty() {
    return underway == null && waiting.isEmpty();
  }

  /** The numbers of events that were dropped, and refused for good. */
  Drops drops() {
    return drops;
  }

  /** Removes the oldest event: it was delivered. */
  synchronized void sent() {
    underway = null;
    sent++;
  }

  /** Removes the oldest event: it was refused for good. */
  synchronized void refused() {
    underway = null;
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
    return waiting.size() + (underway == null ? 0 : 1);
  }
}
