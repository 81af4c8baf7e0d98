package headwater.signing;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The event that an emitter sends about itself: that its chain's head is unchanged, which events it
 * dropped, and, in the last one, that it ends.
 *
 * <p>Source: docs/decisions/0011-a-chain-for-each-emitter.md
 */
public final class Heartbeat {
  /** The namespace of the nodes' own jobs. */
  public static final String NODES = "headwater-nodes";

  private static final String SCHEMA =
      "https://headwater.dev/spec/facets/1-0-0/headwater_heartbeat.json";
  private static final String RUN_EVENT =
      "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent";

  private Heartbeat() {}

  /**
   * The event, not yet signed.
   *
   * @param intervalMs the longest time without an event of the emitter
   * @param gap from {@link Drops#take}; null if nothing was dropped
   */
  public static byte[] of(
      Chain chain, String producer, long intervalMs, Map<String, Object> gap, boolean isLast) {
    Map<String, Object> facet = new LinkedHashMap<>();
    facet.put("_producer", producer);
    facet.put("_schemaURL", SCHEMA);
    facet.put("intervalSeconds", intervalMs / 1000);
    facet.put("gap", gap);
    return CanonicalJson.write(
        Map.of(
            "eventType",
            isLast ? "COMPLETE" : "RUNNING",
            "eventTime",
            Instant.now().truncatedTo(ChronoUnit.MILLIS).toString(),
            "producer",
            producer,
            "schemaURL",
            RUN_EVENT,
            "job",
            Map.of("namespace", NODES, "name", chain.nodeId()),
            "run",
            Map.of("runId", chain.epoch(), "facets", Map.of("headwater_heartbeat", facet))));
  }
}
