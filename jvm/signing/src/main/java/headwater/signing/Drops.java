package headwater.signing;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How many events were dropped, why, and from when to when; what was told of is not told again. */
public final class Drops {
  private static final Logger LOGGER = LoggerFactory.getLogger(Drops.class);

  private final Map<String, Long> reasons = new TreeMap<>();
  private long soFar;
  private Instant first;
  private Instant last;

  public synchronized void count(String reason) {
    soFar++;
    last = Instant.now();
    first = reasons.isEmpty() ? last : first;
    reasons.merge(reason, 1L, Long::sum);
    // At 1, 2, 4, 8 …: an outage is told, and does not fill the log.
    if (Long.bitCount(soFar) == 1) {
      LOGGER.warn(
          "a lineage event was dropped ({}): lineage_events_dropped_total={}", reason, soFar);
    }
  }

  public synchronized long total() {
    return soFar;
  }

  public synchronized boolean hasNew() {
    return !reasons.isEmpty();
  }

  /** What is to be told, as the member `gap` of a heartbeat; null for nothing. */
  public synchronized Map<String, Object> take() {
    if (reasons.isEmpty()) {
      return null;
    }
    Map<String, Object> gap = new LinkedHashMap<>();
    gap.put("events", reasons.values().stream().mapToLong(Long::longValue).sum());
    gap.put("reasons", Map.copyOf(reasons));
    gap.put("firstAt", first.toString());
    gap.put("lastAt", last.toString());
    gap.put("eventsSoFar", soFar);
    reasons.clear();
    return gap;
  }
}
