package headwater.lab.auction;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.source.SourceConnector;

/** Generates orders, and bids for them, with any number of tasks; each has its own orders. */
public final class AuctionSourceConnector extends SourceConnector {
  private Map<String, String> properties = Map.of();

  @Override
  public void start(Map<String, String> config) {
    properties = Map.copyOf(config);
  }

  @Override
  public Class<? extends Task> taskClass() {
    return AuctionSourceTask.class;
  }

  @Override
  public List<Map<String, String>> taskConfigs(int maxTasks) {
    return IntStream.range(0, maxTasks).mapToObj(this::ofTask).toList();
  }

  private Map<String, String> ofTask(int number) {
    Map<String, String> ofTask = new HashMap<>(properties);
    ofTask.put(AuctionSettings.TASK, Integer.toString(number));
    return ofTask;
  }

  @Override
  public void stop() {
    // There is nothing to release.
  }

  @Override
  public ConfigDef config() {
    return AuctionSettings.DEFINITION;
  }

  @Override
  public String version() {
    return "0.1.0";
  }
}
