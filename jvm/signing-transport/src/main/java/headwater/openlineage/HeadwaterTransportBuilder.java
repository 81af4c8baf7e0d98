package headwater.openlineage;

import io.openlineage.client.transports.NoopTransport;
import io.openlineage.client.transports.Transport;
import io.openlineage.client.transports.TransportBuilder;
import io.openlineage.client.transports.TransportConfig;
import java.io.UncheckedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What openlineage-java finds for `transport.type: headwater`. */
public final class HeadwaterTransportBuilder implements TransportBuilder {
  private static final Logger LOGGER = LoggerFactory.getLogger(HeadwaterTransportBuilder.class);

  @Override
  public String getType() {
    return "headwater";
  }

  @Override
  public TransportConfig getConfig() {
    return new HeadwaterConfig();
  }

  @Override
  public Transport build(TransportConfig config) {
    try {
      return new HeadwaterTransport(Emissions.shared((HeadwaterConfig) config));
    } catch (UncheckedIOException | IllegalArgumentException unusable) {
      LOGGER.error("no lineage is told: {}", unusable.getMessage());
      return new NoopTransport();
    }
  }
}
