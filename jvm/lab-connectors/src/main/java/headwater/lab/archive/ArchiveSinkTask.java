package headwater.lab.archive;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/** Writes the records of its partitions, whenever Connect commits offsets. */
public final class ArchiveSinkTask extends SinkTask {
  private ObjectStore store;
  private Archive archive;

  @Override
  public void start(Map<String, String> properties) {
    ArchiveSettings settings = ArchiveSettings.read(properties);
    store = new S3(settings);
    archive = new Archive(settings, store);
  }

  @Override
  public void put(Collection<SinkRecord> records) {
    records.forEach(archive::add);
  }

  /** Called before each commit and before partitions are revoked; Connect commits the result. */
  @Override
  public Map<TopicPartition, OffsetAndMetadata> preCommit(
      Map<TopicPartition, OffsetAndMetadata> current) {
    Map<TopicPartition, OffsetAndMetadata> safe = new HashMap<>();
    archive
        .write()
        .forEach((partition, offset) -> safe.put(partition, new OffsetAndMetadata(offset)));
    return safe;
  }

  @Override
  public void close(Collection<TopicPartition> partitions) {
    archive.discard(partitions);
  }

  @Override
  public void stop() {
    if (store != null) {
      store.close();
    }
  }

  @Override
  public String version() {
    return "0.1.0";
  }
}
