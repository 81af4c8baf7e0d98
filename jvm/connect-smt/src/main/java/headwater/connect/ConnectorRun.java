package headwater.connect;

import headwater.connect.RunUpdate.Kind;
import headwater.connect.RunUpdate.State;
import headwater.connect.RunUpdate.TopicUpdate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * One connector's run in this JVM, over all its tasks here: from the first task's start to the last
 * one's end, and across restarts within a few seconds.
 *
 * <p>Tasks report what happens; {@link Emission}'s thread takes the updates that are due. Nothing
 * here blocks.
 */
final class ConnectorRun {
  private static final int MAX_TOPICS = 1_000;
  private static final int MAX_SHAPES = 64;
  private static final int MAX_TOPICS_AN_EVENT = 100;

  /** Some 100 bytes each: by default, a broker accepts no record above 1 MB. */
  private static final int MAX_FIELDS_AN_EVENT = 4_000;

  /** Callbacks of the run. */
  interface Callbacks {
    /** Signals that {@link #due} has updates to return now. */
    void wake();

    /** Reads a registered schema asynchronously; its shape is passed to {@link #setShape}. */
    void requestSchema(
        ConnectorRun run, String topic, Integer schemaId, List<FieldShape> keyFields);
  }

  private final String connector;
  private final InstantSource clock;
  private final Callbacks callbacks;
  private final Set<TaskObserver> open = new LinkedHashSet<>();
  private final Map<String, TopicState> topics = new LinkedHashMap<>();
  private final List<ShapeChange> shapeChanges = new ArrayList<>();
  private Settings settings;
  private Kind kind = Kind.UNKNOWN;
  private UUID runId;
  private Instant since;
  private boolean isStartReported;
  private Instant lastReported;
  private Instant endedAt;

  private static final class TopicState {
    final FieldSample sample = new FieldSample();
    final Set<Shape> known = new HashSet<>();
    Shape shape;
    long recordsOfEnded;
    long recordsReported = -1;
  }

  private record ShapeChange(Instant time, String topic, Shape shape) {}

  ConnectorRun(String connector, Settings settings, InstantSource clock, Callbacks callbacks) {
    this.connector = connector;
    this.settings = settings;
    this.clock = clock;
    this.callbacks = callbacks;
  }

  String connector() {
    return connector;
  }

  synchronized Settings settings() {
    return settings;
  }

  /** Adds a task that starts. */
  synchronized void taskStarted(TaskObserver task, Settings now) {
    settings = now;
    open.add(task);
    endedAt = null;
    if (runId == null) {
      since = clock.instant();
      runId = RunId.startedAt(since);
      settings.topics().forEach(this::topic);
    }
    callbacks.wake();
  }

  /** Removes a task that ends, for whatever reason. */
  synchronized void taskEnded(TaskObserver task) {
    if (!open.remove(task)) {
      return;
    }
    for (Map.Entry<String, TopicObserver> seen : task.topics().entrySet()) {
      topic(seen.getKey()).recordsOfEnded += seen.getValue().records();
    }
    if (open.isEmpty()) {
      endedAt = clock.instant();
    }
    callbacks.wake();
  }

  /** Sets whether the connector reads or writes topics, known from a task's first record. */
  synchronized void setKind(Kind known) {
    kind = known;
  }

  synchronized Kind kind() {
    return kind;
  }

  /** Sets the shape of a topic's records; reported only if it is new. */
  synchronized void setShape(String name, Shape shape) {
    TopicState topic = topic(name);
    if (runId == null || (topic.shape != null && shape.origin() == Shape.Origin.UNKNOWN)) {
      return;
    }
    if (topic.known.size() >= MAX_SHAPES) {
      topic.known.clear();
    }
    if (topic.known.add(shape)) {
      topic.shape = shape;
      shapeChanges.add(new ShapeChange(clock.instant(), name, shape));
      callbacks.wake();
    }
  }

  synchronized FieldSample sampleOf(String topic) {
    return topic(topic).sample;
  }

  void requestSchema(String topic, Integer schemaId, List<FieldShape> keyFields) {
    if (settings().registry() != null) {
      callbacks.requestSchema(this, topic, schemaId, keyFields);
    }
  }

  /** All updates due by now, in the order in which they happened. */
  synchronized List<RunUpdate> due() {
    Instant now = clock.instant();
    List<RunUpdate> updates = new ArrayList<>();
    if (runId == null) {
      return updates;
    }
    if (!isStartReported) {
      isStartReported = true;
      lastReported = now;
      updates.addAll(split(State.START, since, withoutShape(settings.topics())));
    }
    addShapeChanges(updates);
    if (endedAt != null && !now.isBefore(endedAt.plus(settings.restartWithin()))) {
      updates.addAll(split(State.ABORT, endedAt, changedTopics()));
      reset();
    } else if (!now.isBefore(lastReported.plus(settings.interval()))) {
      lastReported = now;
      updates.addAll(split(State.RUNNING, now, changedTopics()));
    }
    return updates;
  }

  /** The time until the next update is due if nothing happens; null for never. */
  synchronized Duration untilDue() {
    if (runId == null) {
      return null;
    }
    if (!isStartReported || !shapeChanges.isEmpty()) {
      return Duration.ZERO;
    }
    Instant next = lastReported.plus(settings.interval());
    if (endedAt != null && endedAt.plus(settings.restartWithin()).isBefore(next)) {
      next = endedAt.plus(settings.restartWithin());
    }
    Duration wait = Duration.between(clock.instant(), next);
    return wait.isNegative() ? Duration.ZERO : wait;
  }

  /** Stops waiting for restarts: the JVM shuts down, and no task will start again. */
  synchronized void shutDown() {
    settings = settings.withoutRestart();
  }

  synchronized boolean isOver() {
    return runId == null && open.isEmpty();
  }

  synchronized boolean hasTasks() {
    return !open.isEmpty();
  }

  /** Puts shape changes into one event, until a topic changes again or the event is full. */
  private void addShapeChanges(List<RunUpdate> updates) {
    Map<String, TopicUpdate> together = new LinkedHashMap<>();
    Instant time = null;
    for (ShapeChange one : shapeChanges) {
      TopicUpdate topic = new TopicUpdate(one.topic(), recordsOf(one.topic()), one.shape());
      if (together.containsKey(one.topic()) || isTooMuch(together.values(), topic)) {
        updates.add(update(State.RUNNING, time, List.copyOf(together.values())));
        together.clear();
      }
      together.put(one.topic(), topic);
      time = one.time();
    }
    if (!together.isEmpty()) {
      updates.add(update(State.RUNNING, time, List.copyOf(together.values())));
    }
    shapeChanges.clear();
  }

  /** Splits an update into several events if it is too large for one; the last has the state. */
  private List<RunUpdate> split(State state, Instant time, List<TopicUpdate> all) {
    List<RunUpdate> parts = new ArrayList<>();
    List<TopicUpdate> together = new ArrayList<>();
    for (TopicUpdate topic : all) {
      if (isTooMuch(together, topic)) {
        parts.add(update(State.RUNNING, time, together));
        together.clear();
      }
      together.add(topic);
    }
    parts.add(update(state, time, together));
    return parts;
  }

  /** Whether an event is too full for another topic; a single topic always fits. */
  private static boolean isTooMuch(Collection<TopicUpdate> together, TopicUpdate another) {
    int fields = together.stream().mapToInt(TopicUpdate::size).sum() + another.size();
    return together.size() >= MAX_TOPICS_AN_EVENT
        || (!together.isEmpty() && fields > MAX_FIELDS_AN_EVENT);
  }

  private RunUpdate update(State state, Instant time, List<TopicUpdate> about) {
    List<Integer> tasks =
        open.stream().map(TaskObserver::task).filter(task -> task != null).sorted().toList();
    long seen = topics.keySet().stream().mapToLong(this::recordsOf).sum();
    return new RunUpdate(
        state, time, since, runId, connector, kind, tasks, seen, List.copyOf(about), settings);
  }

  private List<TopicUpdate> withoutShape(Collection<String> names) {
    return names.stream().map(name -> new TopicUpdate(name, recordsOf(name), null)).toList();
  }

  /** The topics with more records than last reported, with their current shapes. */
  private List<TopicUpdate> changedTopics() {
    List<TopicUpdate> changed = new ArrayList<>();
    topics.forEach(
        (name, topic) -> {
          long records = recordsOf(name);
          if (records != topic.recordsReported && topic.shape != null) {
            topic.recordsReported = records;
            topic.shape = currentShape(name, topic);
            changed.add(new TopicUpdate(name, records, topic.shape));
          }
        });
    return changed;
  }

  /**
   * The current shape of a topic: its newest, unless the last record of every task has an older
   * one, which has come back.
   */
  private Shape currentShape(String name, TopicState topic) {
    if (topic.shape.origin() == Shape.Origin.SAMPLE) {
      List<FieldShape> keyFields = topic.shape.keyFields();
      return new Shape(Shape.Origin.SAMPLE, null, null, topic.sample.fields(), keyFields, null);
    }
    Shape other = null;
    for (TaskObserver task : open) {
      TopicObserver observer = task.topics().get(name);
      Shape last = observer == null ? null : observer.shape();
      if (last == null || last.origin() != Shape.Origin.CONNECT || last.equals(topic.shape)) {
        return topic.shape;
      }
      other = last;
    }
    return other == null ? topic.shape : other;
  }

  private long recordsOf(String name) {
    TopicState topic = topics.get(name);
    long records = topic == null ? 0 : topic.recordsOfEnded;
    for (TaskObserver task : open) {
      TopicObserver observer = task.topics().get(name);
      records += observer == null ? 0 : observer.records();
    }
    return records;
  }

  /** The state of a topic. Beyond the limit of topics, a new one is not stored, so not reported. */
  private TopicState topic(String name) {
    TopicState known = topics.get(name);
    if (known != null || topics.size() >= MAX_TOPICS) {
      return known == null ? new TopicState() : known;
    }
    TopicState added = new TopicState();
    topics.put(name, added);
    return added;
  }

  private void reset() {
    runId = null;
    isStartReported = false;
    endedAt = null;
    kind = Kind.UNKNOWN;
    topics.clear();
  }
}
