package headwater.connect;

import headwater.connect.Outbox.Letter;
import headwater.connect.Told.Kind;
import headwater.signing.CanonicalJson;
import headwater.signing.EventSigner;
import headwater.signing.NodeKey;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells one target of all connectors' runs, on a thread of its own: builds events, signs them,
 * delivers them in order.
 *
 * <p>While the target takes none they wait; what is too much is dropped, the oldest first, and
 * counted.
 */
final class Emission implements ConnectorRun.Environment {
  private static final Logger LOGGER = LoggerFactory.getLogger(Emission.class);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  private final String target;
  private final Transport transport;
  private final RegistryReader registry;
  private final String kafkaVersion;
  private final InstantSource clock = InstantSource.system();
  private final Outbox outbox;
  private final Map<List<String>, ConnectorRun> runs = new LinkedHashMap<>();
  private final Map<String, Optional<NodeKey>> keys = new ConcurrentHashMap<>();
  private final Map<String, String> connectorClasses = new HashMap<>();
  private final Object bell = new Object();
  private boolean hasRung;
  private boolean isStopped;
  private Duration pause = Duration.ZERO;
  private long retryAtNanos;

  /**
   * @param target its name in logs
   */
  Emission(
      String target,
      Transport transport,
      RegistryReader registry,
      String kafkaVersion,
      Outbox outbox) {
    this.target = target;
    this.transport = transport;
    this.registry = registry;
    this.kafkaVersion = kafkaVersion;
    this.outbox = outbox;
  }

  void start() {
    Thread thread = new Thread(this::work, "headwater-lineage");
    thread.setDaemon(true);
    // Not the loader of whichever connector happened to come first, which the worker may want to
    // forget.
    thread.setContextClassLoader(Emission.class.getClassLoader());
    thread.start();
  }

  /** A task starts: returns what watches it. A key that could not be read before is tried again. */
  TaskObserver open(String connector, Integer task, Settings settings) {
    keys.values().removeIf(Optional::isEmpty);
    synchronized (runs) {
      ConnectorRun run =
          runs.computeIfAbsent(
              List.of(settings.jobNamespace(), connector),
              key -> new ConnectorRun(connector, settings, clock, this));
      TaskObserver observer = new TaskObserver(task, run);
      run.opened(observer, settings);
      return observer;
    }
  }

  @Override
  public void wake() {
    synchronized (bell) {
      hasRung = true;
      bell.notifyAll();
    }
  }

  @Override
  public void askRegistry(
      ConnectorRun run, String topic, Integer schemaId, List<FieldShape> keyFields) {
    registry.ask(
        run.settings().registry(),
        new RegistryReader.Question(topic, schemaId),
        known -> run.seen(topic, known.shapeWith(keyFields)));
  }

  /**
   * The JVM ends: waits for its tasks to end, then for what there is to tell, each for as long as
   * is given.
   */
  void drain(Duration forTasks, Duration forEvents) throws InterruptedException {
    await(() -> allRuns().stream().noneMatch(ConnectorRun::hasTasks), forTasks);
    allRuns().forEach(ConnectorRun::endSoon);
    wake();
    await(() -> allRuns().isEmpty() && outbox.first() == null, forEvents);
  }

  /** Ends the thread; what waits is lost. */
  void stop() {
    synchronized (bell) {
      isStopped = true;
    }
    wake();
  }

  private void work() {
    while (!isStopped()) {
      try {
        collect();
        deliver();
        rest();
      } catch (InterruptedException ended) {
        break;
      } catch (Throwable fault) {
        // An observer's faults must never be the worker's: tell, and go on.
        LOGGER.warn("lineage to {}: {}", target, fault.toString());
        pause(FIRST_PAUSE);
      }
    }
    transport.close();
  }

  private void collect() {
    for (ConnectorRun run : allRuns()) {
      learn(run);
      for (Told told : run.due()) {
        Map<String, Object> event = Events.of(told, kafkaVersion, connectorClass(told));
        outbox.put(new Letter(told.connector(), written(event, told.settings())));
      }
    }
    synchronized (runs) {
      runs.values().removeIf(this::isForgotten);
    }
  }

  /** A connector of the same name may come again, as one of another class. */
  private boolean isForgotten(ConnectorRun run) {
    if (run.isOver()) {
      connectorClasses.remove(run.connector());
    }
    return run.isOver();
  }

  private void learn(ConnectorRun run) {
    if (run.kind() == Kind.UNKNOWN || !connectorClasses.containsKey(run.connector())) {
      WorkerMetrics.Connector known = WorkerMetrics.of(run.connector());
      if (known.kind() != Kind.UNKNOWN) {
        run.does(known.kind());
      }
      if (known.connectorClass() != null) {
        connectorClasses.put(run.connector(), known.connectorClass());
      }
    }
  }

  private String connectorClass(Told told) {
    String given = told.settings().connectorClass();
    return given != null ? given : connectorClasses.get(told.connector());
  }

  private byte[] written(Map<String, Object> event, Settings settings) {
    Optional<NodeKey> key =
        settings.nodeKey() == null
            ? Optional.empty()
            : keys.computeIfAbsent(settings.nodeKey(), Emission::readKey);
    return key.map(known -> EventSigner.sign(event, known, EventSigner.SCHEMA))
        .orElseGet(() -> CanonicalJson.write(event));
  }

  private static Optional<NodeKey> readKey(String path) {
    try {
      return Optional.of(NodeKey.read(Path.of(path)));
    } catch (IOException | RuntimeException unreadable) {
      LOGGER.warn(
          "{}: events go unsigned, since the key cannot be read: {}",
          Settings.NODE_KEY,
          unreadable.toString());
      return Optional.empty();
    }
  }

  private void deliver() throws InterruptedException {
    for (Letter letter = outbox.first();
        letter != null && untilRetry() <= 0;
        letter = outbox.first()) {
      Transport.Delivery delivery = transport.send(letter.connector(), letter.event());
      switch (delivery.outcome()) {
        case ACKNOWLEDGED -> {
          outbox.sent(letter);
          pause = Duration.ZERO;
        }
        case REFUSED -> {
          outbox.refused(letter);
          LOGGER.warn(
              "{} refused a lineage event of {}: {}", target, letter.connector(), delivery.why());
        }
        case UNAVAILABLE -> tryLater(delivery.why());
      }
    }
  }

  private void tryLater(String why) {
    if (pause.isZero()) {
      LOGGER.warn("{} takes no lineage events: {}; they wait", target, why);
    }
    Duration twice = pause.multipliedBy(2);
    pause =
        pause.isZero() ? FIRST_PAUSE : twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
    retryAtNanos = System.nanoTime() + pause.toNanos();
  }

  private long untilRetry() {
    return pause.isZero() ? 0 : retryAtNanos - System.nanoTime();
  }

  private void rest() throws InterruptedException {
    long millis = outbox.first() == null ? Long.MAX_VALUE : Math.max(1, untilRetry() / 1_000_000);
    for (ConnectorRun run : allRuns()) {
      Duration until = run.untilDue();
      millis = until == null ? millis : Math.min(millis, until.toMillis() + 1);
    }
    synchronized (bell) {
      if (!hasRung) {
        bell.wait(Math.min(millis, Duration.ofMinutes(1).toMillis()));
      }
      hasRung = false;
    }
  }

  private boolean isStopped() {
    synchronized (bell) {
      return isStopped;
    }
  }

  private List<ConnectorRun> allRuns() {
    synchronized (runs) {
      return new ArrayList<>(runs.values());
    }
  }

  private interface Condition {
    boolean holds();
  }

  private static void await(Condition condition, Duration patience) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (!condition.holds() && System.nanoTime() < end) {
      Thread.sleep(20);
    }
  }

  private static void pause(Duration length) {
    try {
      Thread.sleep(length.toMillis());
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
