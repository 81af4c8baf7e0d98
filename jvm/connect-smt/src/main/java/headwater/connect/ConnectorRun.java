package headwater.connect;

import headwater.connect.Told.Kind;
import headwater.connect.Told.State;
import headwater.connect.Told.ToldTopic;
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
 * One connector's run in this JVM, made of all its tasks here: from the first one's start to the
 * last one's end, and across restarts that take a few seconds.
 *
 * <p>Tasks say what happens, {@link Emission}'s thread asks what is to be told. Nothing here waits
 * for anything.
 */
final class ConnectorRun {
  private static final int MAX_TOPICS = 1_000;
  private static final int MAX_SHAPES = 64;
  private static final int MAX_TOPICS_AN_EVENT = 100;

  /** Some 100 bytes each: a broker takes no record above 1 MB, unless it is told to. */
  private static final int MAX_FIELDS_AN_EVENT = 4_000;

  /** Callbacks of the run. */
  interface Environment {
    /** Signals that {@link #due} has updates to return now. */
    void wake();

    /** Reads a schema asynchronously; its shape is passed to {@link #seen}. */
    void askRegistry(ConnectorRun run, String topic, Integer schemaId, List<FieldShape> keyFields);
  }

  private final String connector;
  private final InstantSource clock;
  private final Environment environment;
  private final Set<TaskObserver> open = new LinkedHashSet<>();
  private final Map<String, TopicOfRun> topics = new LinkedHashMap<>();
  private final List<News> news = new ArrayList<>();
  private Settings settings;
  private Kind kind = Kind.UNKNOWN;
  private UUID runId;
  private Instant since;
  private boolean isStartTold;
  private Instant lastTold;
  private Instant closedAt;

  private static final class TopicOfRun {
    final FieldSample sample = new FieldSample();
    final Set<Shape> known = new HashSet<>();
    Shape shape;
    long recordsOfClosed;
    long recordsTold = -1;
  }

  private record News(Instant time, String topic, Shape shape) {}

  ConnectorRun(String connector, Settings settings, InstantSource clock, Environment environment) {
    this.connector = connector;
    this.settings = settings;
    this.clock = clock;
    this.environment = environment;
  }

  String connector() {
    return connector;
  }

  synchronized Settings settings() {
    return settings;
  }

  /** A task starts. */
  synchronized void opened(TaskObserver task, Settings now) {
    settings = now;
    open.add(task);
    closedAt = null;
    if (runId == null) {
      since = clock.instant();
      runId = RunId.begunAt(since);
      settings.topics().forEach(this::topic);
    }
    environment.wake();
  }

  /** A task ends, for whatever reason. */
  synchronized void closed(TaskObserver task) {
    if (!open.remove(task)) {
      return;
    }
    for (Map.Entry<String, TopicObserver> seen : task.topics().entrySet()) {
      topic(seen.getKey()).recordsOfClosed += seen.getValue().records();
    }
    if (open.isEmpty()) {
      closedAt = clock.instant();
    }
    environment.wake();
  }

  /** A task's first record tells what the connector does with topics. */
  synchronized void does(Kind known) {
    kind = known;
  }

  synchronized Kind kind() {
    return kind;
  }

  /** Sets the shape of a topic's records; reported only if it is new. */
  synchronized void seen(String name, Shape shape) {
    TopicOfRun topic = topic(name);
    if (runId == null || (topic.shape != null && shape.origin() == Shape.Origin.UNKNOWN)) {
      return;
    }
    if (topic.known.size() >= MAX_SHAPES) {
      topic.known.clear();
    }
    if (topic.known.add(shape)) {
      topic.shape = shape;
      news.add(new News(clock.instant(), name, shape));
      environment.wake();
    }
  }

  synchronized FieldSample sampleOf(String topic) {
    return topic(topic).sample;
  }

  void askRegistry(String topic, Integer schemaId, List<FieldShape> keyFields) {
    if (settings().registry() != null) {
      environment.askRegistry(this, topic, schemaId, keyFields);
    }
  }

  /** All updates due by now, in the order in which they happened. */
  synchronized List<Told> due() {
    Instant now = clock.instant();
    List<Told> told = new ArrayList<>();
    if (runId == null) {
      return told;
    }
    if (!isStartTold) {
      isStartTold = true;
      lastTold = now;
      told.addAll(inParts(State.START, since, named(settings.topics())));
    }
    tellNews(told);
    if (closedAt != null && !now.isBefore(closedAt.plus(settings.restartWithin()))) {
      told.addAll(inParts(State.ABORT, closedAt, moved()));
      forget();
    } else if (!now.isBefore(lastTold.plus(settings.interval()))) {
      lastTold = now;
      told.addAll(inParts(State.RUNNING, now, moved()));
    }
    return told;
  }

  /** The time until the next update is due if nothing happens; null for never. */
  synchronized Duration untilDue() {
    if (runId == null) {
      return null;
    }
    if (!isStartTold || !news.isEmpty()) {
      return Duration.ZERO;
    }
    Instant next = lastTold.plus(settings.interval());
    if (closedAt != null && closedAt.plus(settings.restartWithin()).isBefore(next)) {
      next = closedAt.plus(settings.restartWithin());
    }
    Duration wait = Duration.between(clock.instant(), next);
    return wait.isNegative() ? Duration.ZERO : wait;
  }

  /** The JVM ends: no task will start again. */
  synchronized void endSoon() {
    settings = settings.endingAtOnce();
  }

  synchronized boolean isOver() {
    return runId == null && open.isEmpty();
  }

  synchronized boolean hasTasks() {
    return !open.isEmpty();
  }

  /** One event for news that do not contradict each other, the next for those that do. */
  private void tellNews(List<Told> told) {
    Map<String, ToldTopic> together = new LinkedHashMap<>();
    Instant time = null;
    for (News one : news) {
      ToldTopic topic = new ToldTopic(one.topic(), recordsOf(one.topic()), one.shape());
      if (together.containsKey(one.topic()) || isTooMuch(together.values(), topic)) {
        told.add(told(State.RUNNING, time, List.copyOf(together.values())));
        together.clear();
      }
      together.put(one.topic(), topic);
      time = one.time();
    }
    if (!together.isEmpty()) {
      told.add(told(State.RUNNING, time, List.copyOf(together.values())));
    }
    news.clear();
  }

  /** Several events where there is too much for one; the last has the state. */
  private List<Told> inParts(State state, Instant time, List<ToldTopic> all) {
    List<Told> parts = new ArrayList<>();
    List<ToldTopic> together = new ArrayList<>();
    for (ToldTopic topic : all) {
      if (isTooMuch(together, topic)) {
        parts.add(told(State.RUNNING, time, together));
        together.clear();
      }
      together.add(topic);
    }
    parts.add(told(state, time, together));
    return parts;
  }

  /**
   * Whether one event should not hold another topic; each topic has room in an event of its own.
   */
  private static boolean isTooMuch(Collection<ToldTopic> together, ToldTopic another) {
    int fields = together.stream().mapToInt(ToldTopic::size).sum() + another.size();
    return together.size() >= MAX_TOPICS_AN_EVENT
        || (!together.isEmpty() && fields > MAX_FIELDS_AN_EVENT);
  }

  private Told told(State state, Instant time, List<ToldTopic> about) {
    List<Integer> tasks =
        open.stream().map(TaskObserver::task).filter(task -> task != null).sorted().toList();
    long seen = topics.keySet().stream().mapToLong(this::recordsOf).sum();
    return new Told(
        state, time, since, runId, connector, kind, tasks, seen, List.copyOf(about), settings);
  }

  private List<ToldTopic> named(Collection<String> names) {
    return names.stream().map(name -> new ToldTopic(name, recordsOf(name), null)).toList();
  }

  /**
   * The topics of which more records have passed than was told, with what the newest of them look
   * like.
   */
  private List<ToldTopic> moved() {
    List<ToldTopic> moved = new ArrayList<>();
    topics.forEach(
        (name, topic) -> {
          long records = recordsOf(name);
          if (records != topic.recordsTold && topic.shape != null) {
            topic.recordsTold = records;
            topic.shape = currentShape(name, topic);
            moved.add(new ToldTopic(name, records, topic.shape));
          }
        });
    return moved;
  }

  /**
   * An older schema may have come back: where no task has seen the newest one last, what one has
   * seen is the current.
   */
  private Shape currentShape(String name, TopicOfRun topic) {
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
    TopicOfRun topic = topics.get(name);
    long records = topic == null ? 0 : topic.recordsOfClosed;
    for (TaskObserver task : open) {
      TopicObserver observer = task.topics().get(name);
      records += observer == null ? 0 : observer.records();
    }
    return records;
  }

  /**
   * Topics beyond the bound are watched and counted together with none: their names are not kept.
   */
  private TopicOfRun topic(String name) {
    TopicOfRun known = topics.get(name);
    if (known != null || topics.size() >= MAX_TOPICS) {
      return known == null ? new TopicOfRun() : known;
    }
    TopicOfRun added = new TopicOfRun();
    topics.put(name, added);
    return added;
  }

  private void forget() {
    runId = null;
    isStartTold = false;
    closedAt = null;
    kind = Kind.UNKNOWN;
    topics.clear();
  }
}
