package headwater.openlineage;

import io.openlineage.client.Clients;
import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineageClient;
import java.net.URI;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.UUID;

/**
 * Emits one event, with a duplicate member in a facet, through the client on the class path, as
 * configured.
 */
public final class Probe implements Runnable {
  private final Path config;

  /** The configuration is an `openlineage.yml`. */
  public Probe(Path config) {
    this.config = config;
  }

  @Override
  public void run() {
    OpenLineage build = new OpenLineage(URI.create("https://example.org/producer"));
    OpenLineageClient client = Clients.newClient(() -> List.of(config));
    OpenLineage.RunFacet twice = build.newRunFacet();
    twice.getAdditionalProperties().put("_producer", "https://example.org/again");
    client.emit(
        build
            .newRunEventBuilder()
            .eventTime(ZonedDateTime.parse("2026-05-22T14:23:11Z"))
            .eventType(OpenLineage.RunEvent.EventType.START)
            .run(
                build
                    .newRunBuilder()
                    .runId(new UUID(0, 7))
                    .facets(build.newRunFacetsBuilder().put("twice", twice).build())
                    .build())
            .job(build.newJobBuilder().namespace("n").name("probe").build())
            .build());
    try {
      client.close();
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }
}
