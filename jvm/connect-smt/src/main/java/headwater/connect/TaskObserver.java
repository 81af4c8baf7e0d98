package headwater.connect;

import headwater.connect.RunUpdate.Kind;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;

/** Observes one task's records. */
final class TaskObserver {
  private static final int MAX_TOPICS = 1_000;

  private volatile Integer task;
  private final ConnectorRun run;
  private final Map<String, TopicObserver> topics = new ConcurrentHashMap<>();
  private boolean isKindReported;

  /**
   * @param task its number; null if unknown
   */
  TaskObserver(Integer task, ConnectorRun run) {
    this.task = task;
    this.run = run;
  }

  Integer task() {
    return task;
  }

  /** Sets the number, if it became known after the connector's name. */
  void setTask(Integer number) {
    task = number;
  }

  Map<String, TopicObserver> topics() {
    return topics;
  }

  void observe(ConnectRecord<?> record) {
    if (!isKindReported) {
      reportKind(record);
    }
    String topic = record.topic();
    if (topic == null) {
      return; // it is not written to a topic
    }
    TopicObserver observer = topics.get(topic);
    if (observer == null) {
      if (topics.size() >= MAX_TOPICS) {
        return;
      }
      observer = topics.computeIfAbsent(topic, name -> new TopicObserver(name, run));
    }
    observer.observe(record);
  }

  void close() {
    run.taskEnded(this);
  }

  private void reportKind(ConnectRecord<?> record) {
    isKindReported = true;
    if (record instanceof SourceRecord) {
      run.setKind(Kind.SOURCE);
    } else if (record instanceof SinkRecord) {
      run.setKind(Kind.SINK);
    }
  }
}
