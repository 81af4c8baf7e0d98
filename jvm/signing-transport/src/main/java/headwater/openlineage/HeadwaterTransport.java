package headwater.openlineage;

import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineageClientUtils;
import io.openlineage.client.transports.Transport;
import java.util.Map;

/**
 * Signs events, puts them into the node's chain, and delivers them through a spool on disk.
 *
 * <p>Lineage is an observer: `emit` writes the event down as JSON and returns; it neither waits nor
 * fails.
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

  /** Waits a while for what was emitted; the emission goes on for others of this process. */
  @Override
  public void close() {
    emission.flush();
  }

  private void put(Object event) {
    String text;
    try {
      // By way of a map: openlineage-spark 1.53.0 writes members of a facet twice, which is no JSON
      // that could be signed.
      text = OpenLineageClientUtils.toJson(OpenLineageClientUtils.convertValue(event, Map.class));
    } catch (RuntimeException unwritable) {
      emission.drop("cannot be written");
      return;
    }
    emission.put(text);
  }
}
