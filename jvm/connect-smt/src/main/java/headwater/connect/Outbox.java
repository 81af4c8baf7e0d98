package headwater.connect;

import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The events that wait for delivery: at most so many, and then the oldest goes. */
final class Outbox implements EmissionMXBean {
  private static final Logger LOGGER = LoggerFactory.getLogger(Outbox.class);

  /** An event in canonical form, of a connector. */
  record Letter(String connector, byte[] event) {}

  private final int capacity;
  private final Deque<Letter> waiting = new ArrayDeque<>();
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
      // At 1, 2, 4, 8 …: an outage is told, and does not fill the log.
      if (Long.bitCount(dropped) == 1) {
        LOGGER.warn(
            "lineage events dropped, since too many waited: lineage_events_dropped_total={}",
            dropped);
      }
    }
    waiting.addLast(letter);
  }

  /** The oldest; null for none. It stays until it is said what became of it. */
  synchronized Letter first() {
    return waiting.peekFirst();
  }

  synchronized void sent(Letter letter) {
    waiting.remove(letter);
    sent++;
  }

  synchronized void refused(Letter letter) {
    waiting.remove(letter);
    refused++;
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
    return waiting.size();
  }
}
