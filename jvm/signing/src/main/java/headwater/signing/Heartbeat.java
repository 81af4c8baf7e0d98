package headwater.signing;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What an emitter says for itself: that the head of its chain is still this, what it had to drop,
 * and, in the last, that it ends.
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
   * @param intervalMs how long the emitter is silent at most
   * @param gap what {@link Drops#take} gave; null where nothing was dropped
   */
  public static byte[] of(
      Chain chain, String producer, long intervalMs, Map<String, Object> gap, boolean isLast) {
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("_producer", producer);
    told.put("_schemaURL", SCHEMA);
    told.put("intervalSeconds", intervalMs / 1000);
    told.put("gap", gap);
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
            Map.of("runId", chain.epoch(), "facets", Map.of("headwater_heartbeat", told))));
  }
}
