package headwater.lab.archive;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.sink.SinkRecord;

/** Collects records into objects. */
final class Archive {
  private final Map<TopicPartition, Deque<Bucket>> buckets = new HashMap<>();
  private final Line line = new Line();
  private final ArchiveSettings settings;
  private final ObjectStore store;

  Archive(ArchiveSettings settings, ObjectStore store) {
    this.settings = settings;
    this.store = store;
  }

  /** Adds a record; one that is delivered again changes nothing. */
  void add(SinkRecord record) {
    TopicPartition partition =
        new TopicPartition(record.originalTopic(), record.originalKafkaPartition());
    Deque<Bucket> waiting = buckets.computeIfAbsent(partition, unknown -> new ArrayDeque<>());
    long offset = record.originalKafkaOffset();
    if (!waiting.isEmpty() && waiting.getLast().isPast(offset)) {
      return;
    }
    if (waiting.isEmpty() || !waiting.getLast().isFor(offset)) {
      waiting.addLast(new Bucket(offset, settings.offsetsPerObject()));
    }
    waiting.getLast().add(offset, line.of(record));
  }

  /**
   * Writes all pending records. An object that is not full is later written again as a whole.
   *
   * @return the offset from which each partition must be read again after a crash
   */
  Map<TopicPartition, Long> write() {
    Map<TopicPartition, Long> resume = new HashMap<>();
    for (Map.Entry<TopicPartition, Deque<Bucket>> each : buckets.entrySet()) {
      Deque<Bucket> waiting = each.getValue();
      while (waiting.size() > 1) {
        put(each.getKey(), waiting.getFirst());
        waiting.removeFirst();
      }
      put(each.getKey(), waiting.getFirst());
      resume.put(each.getKey(), waiting.getFirst().resumeOffset());
    }
    return resume;
  }

  /** Discards partitions that moved to another task, which reads again what is not committed. */
  void discard(Collection<TopicPartition> partitions) {
    partitions.forEach(buckets::remove);
  }

  private void put(TopicPartition partition, Bucket bucket) {
    byte[] content = bucket.unwritten();
    if (content != null) {
      store.put(
          settings.key(partition.topic(), partition.partition(), bucket.firstOffset()), content);
      bucket.written();
    }
  }
}
