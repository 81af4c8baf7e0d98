package headwater.signing;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts dropped events by reason, and reports them as gaps; each drop is in one gap. */
public final class Drops {
  private static final Logger LOGGER = LoggerFactory.getLogger(Drops.class);

  private final Map<String, Long> reasons = new TreeMap<>();
  private long total;
  private Instant first;
  private Instant last;

  public synchronized void count(String reason) {
    total++;
    last = Instant.now();
    first = reasons.isEmpty() ? last : first;
    reasons.merge(reason, 1L, Long::sum);
    // Logged at 1, 2, 4, 8 …, so that an outage does not fill the log.
    if (Long.bitCount(total) == 1) {
      LOGGER.warn(
          "a lineage event was dropped ({}): lineage_events_dropped_total={}", reason, total);
    }
  }

  public synchronized long total() {
    return total;
  }

  public synchronized boolean hasNew() {
    return !reasons.isEmpty();
  }

  /** Returns the drops since the last call, as the member `gap` of a heartbeat; null for none. */
  public synchronized Map<String, Object> take() {
    if (reasons.isEmpty()) {
      return null;
    }
    Map<String, Object> gap = new LinkedHashMap<>();
    gap.put("events", reasons.values().stream().mapToLong(Long::longValue).sum());
    gap.put("reasons", Map.copyOf(reasons));
    gap.put("firstAt", first.toString());
    gap.put("lastAt", last.toString());
    gap.put("eventsSoFar", total);
    reasons.clear();
    return gap;
  }
}
