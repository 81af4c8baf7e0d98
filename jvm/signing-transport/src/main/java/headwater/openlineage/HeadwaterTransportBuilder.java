package headwater.openlineage;

import io.openlineage.client.transports.NoopTransport;
import io.openlineage.client.transports.Transport;
import io.openlineage.client.transports.TransportBuilder;
import io.openlineage.client.transports.TransportConfig;
import java.io.UncheckedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Builds the transport for `transport.type: headwater`; openlineage-java finds it as a service. */
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
      LOGGER.error("no lineage is reported: {}", unusable.getMessage());
      return new NoopTransport();
    }
  }
}
