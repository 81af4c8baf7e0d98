package headwater.openlineage;

import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineageClientUtils;
import io.openlineage.client.transports.Transport;
import java.util.Map;

/**
 * Signs events, adds them to the node's chain, and delivers them through a spool on disk.
 *
 * <p>Lineage is an observer: `emit` writes the event as JSON, queues it and returns; it neither
 * blocks nor fails.
 */
public final class HeadwaterTransport extends Transport {
  private final Emission emission;

  HeadwaterTransport(Emission emission) {
    this.emission = emission;
  }

  @Override
  public void emit(OpenLineage.RunEvent event) {
    put(event);
  }

  @Override
  public void emit(OpenLineage.DatasetEvent event) {
    put(event);
  }

  @Override
  public void emit(OpenLineage.JobEvent event) {
    put(event);
  }

  /** Waits for deliveries up to the drain timeout; the process's other transports continue. */
  @Override
  public void close() {
    emission.flush();
  }

  private void put(Object event) {
    String text;
    try {
      // Through a map: openlineage-spark 1.53.0 writes some members of facets twice, and JSON with
      // duplicate keys cannot be signed.
      text = OpenLineageClientUtils.toJson(OpenLineageClientUtils.convertValue(event, Map.class));
    } catch (RuntimeException unwritable) {
      emission.drop("cannot be written");
      return;
    }
    emission.put(text);
  }
}
