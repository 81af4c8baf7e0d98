package headwater.lab.archive;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.sink.SinkConnector;

/** Writes the records of topics to S3, each exactly once, as lines of JSON. */
public final class ArchiveSinkConnector extends SinkConnector {
  private Map<String, String> properties = Map.of();

  @Override
  public void start(Map<String, String> config) {
    properties = Map.copyOf(config);
  }

  @Override
  public Class<? extends Task> taskClass() {
    return ArchiveSinkTask.class;
  }

  @Override
  public List<Map<String, String>> taskConfigs(int maxTasks) {
    return Collections.nCopies(maxTasks, properties);
  }

  @Override
  public void stop() {
    // There is nothing to release.
  }

  @Override
  public ConfigDef config() {
    return ArchiveSettings.DEFINITION;
  }

  @Override
  public String version() {
    return "0.1.0";
  }
}
