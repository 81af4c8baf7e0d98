package headwater.connect;

import headwater.connect.Told.Kind;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;

/** Watches one task's records. */
final class TaskObserver {
  private static final int MAX_TOPICS = 1_000;

  private volatile Integer task;
  private final ConnectorRun run;
  private final Map<String, TopicObserver> topics = new ConcurrentHashMap<>();
  private boolean isKindTold;

  /**
   * @param task its number; null where it is not known
   */
  TaskObserver(Integer task, ConnectorRun run) {
    this.task = task;
    this.run = run;
  }

  Integer task() {
    return task;
  }

  /** The number came later than the connector's name. */
  void isTask(Integer number) {
    task = number;
  }

  Map<String, TopicObserver> topics() {
    return topics;
  }

  void see(ConnectRecord<?> record) {
    if (!isKindTold) {
      tellKind(record);
    }
    String topic = record.topic();
    if (topic == null) {
      return; // the worker gives it to no topic
    }
    TopicObserver observer = topics.get(topic);
    if (observer == null) {
      if (topics.size() >= MAX_TOPICS) {
        return;
      }
      observer = topics.computeIfAbsent(topic, name -> new TopicObserver(name, run));
    }
    observer.see(record);
  }

  void close() {
    run.closed(this);
  }

  private void tellKind(ConnectRecord<?> record) {
    isKindTold = true;
    if (record instanceof SourceRecord) {
      run.does(Kind.SOURCE);
    } else if (record instanceof SinkRecord) {
      run.does(Kind.SINK);
    }
  }
}
