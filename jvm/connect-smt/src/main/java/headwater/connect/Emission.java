package headwater.connect;

import headwater.connect.Outbox.QueuedEvent;
import headwater.connect.RunUpdate.Kind;
import headwater.signing.CanonicalJson;
import headwater.signing.Drops;
import java.io.IOException;
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
 * Emits the events of all connectors' runs to one target, on a thread of its own: builds, signs and
 * delivers them in order.
 *
 * <p>While the target is unavailable they wait; if the queue is full, the oldest are dropped and
 * counted.
 */
final class Emission implements ConnectorRun.Callbacks {
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
  private final Map<Settings.Signing, Optional<Signer>> signers = new ConcurrentHashMap<>();
  private final Map<String, String> connectorClasses = new HashMap<>();
  private final Object signal = new Object();
  private boolean isSignalled;
  private boolean isStopped;
  private volatile boolean isEnding;
  private volatile boolean hasQueuedLastHeartbeats;
  private boolean hasRetriedAtEnd;
  private byte[] signed;
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
    // Not the class loader of the first connector, which the worker may want to unload.
    thread.setContextClassLoader(Emission.class.getClassLoader());
    thread.start();
  }

  /** Returns an observer for a task that starts. Retries keys that could not be read before. */
  TaskObserver open(String connector, Integer task, Settings settings) {
    signers.values().removeIf(Optional::isEmpty);
    synchronized (runs) {
      ConnectorRun run =
          runs.computeIfAbsent(
              List.of(settings.jobNamespace(), connector),
              key -> new ConnectorRun(connector, settings, clock, this));
      TaskObserver observer = new TaskObserver(task, run);
      run.taskStarted(observer, settings);
      return observer;
    }
  }

  @Override
  public void wake() {
    synchronized (signal) {
      isSignalled = true;
      signal.notifyAll();
    }
  }

  @Override
  public void requestSchema(
      ConnectorRun run, String topic, Integer schemaId, List<FieldShape> keyFields) {
    registry.read(
        run.settings().registry(),
        new RegistryReader.Query(topic, schemaId),
        schema -> run.setShape(topic, schema.shapeWith(keyFields)));
  }

  /**
   * Called when the JVM shuts down: waits for its tasks to end, then for the remaining events, each
   * up to its timeout.
   */
  void drain(Duration tasksTimeout, Duration eventsTimeout) throws InterruptedException {
    await(() -> allRuns().stream().noneMatch(ConnectorRun::hasTasks), tasksTimeout);
    allRuns().forEach(ConnectorRun::shutDown);
    isEnding = true;
    wake();
    await(() -> hasQueuedLastHeartbeats && outbox.isEmpty(), eventsTimeout);
    if (!outbox.isEmpty()) {
      LOGGER.warn(
          "{} took no lineage events before the shutdown: {} are lost",
          target,
          outbox.getlineage_events_waiting());
    }
  }

  /** Ends the thread; waiting events are lost. */
  void stop() {
    synchronized (signal) {
      isStopped = true;
    }
    wake();
  }

  private void work() {
    while (!isStopped()) {
      try {
        collect();
        deliver();
        queueHeartbeats();
        waitForWork();
      } catch (InterruptedException ended) {
        break;
      } catch (Throwable fault) {
        // An observer's faults must never affect the worker: log and continue.
        LOGGER.warn("lineage to {} failed and is retried: {}", target, fault.toString());
        pause(FIRST_PAUSE);
      }
    }
    transport.close();
    signers.values().forEach(signer -> signer.ifPresent(Signer::close));
  }

  private void collect() {
    for (ConnectorRun run : allRuns()) {
      if (Duration.ZERO.equals(run.untilDue())) {
        readWorkerMetrics(run);
      }
      for (RunUpdate update : run.due()) {
        Map<String, Object> event = Events.of(update, kafkaVersion, connectorClass(update));
        outbox.put(
            new QueuedEvent(
                update.connector(), CanonicalJson.write(event), update.settings().signing()));
      }
    }
    synchronized (runs) {
      runs.values().removeIf(this::removedIfOver);
    }
  }

  /** Also removes its class: a new connector of the same name may have another. */
  private boolean removedIfOver(ConnectorRun run) {
    if (run.isOver()) {
      connectorClasses.remove(run.connector());
    }
    return run.isOver();
  }

  /** The cost grows with the worker's tasks, so it is not done for a run without updates. */
  private void readWorkerMetrics(ConnectorRun run) {
    if (run.kind() == Kind.UNKNOWN || !connectorClasses.containsKey(run.connector())) {
      WorkerMetrics.Connector known = WorkerMetrics.of(run.connector());
      if (known.kind() != Kind.UNKNOWN) {
        run.setKind(known.kind());
      }
      if (known.connectorClass() != null) {
        connectorClasses.put(run.connector(), known.connectorClass());
      }
    }
  }

  private String connectorClass(RunUpdate update) {
    String configured = update.settings().connectorClass();
    return configured != null ? configured : connectorClasses.get(update.connector());
  }

  private Optional<Signer> signer(Settings.Signing signing) {
    return signing == null
        ? Optional.empty()
        : signers.computeIfAbsent(signing, Emission::newSigner);
  }

  private static Optional<Signer> newSigner(Settings.Signing signing) {
    try {
      return Optional.of(new Signer(signing));
    } catch (IOException | RuntimeException unreadable) {
      LOGGER.warn(
          "{}: events go unsigned, because the key cannot be read: {}",
          Settings.NODE_KEY,
          unreadable.toString());
      return Optional.empty();
    }
  }

  private void deliver() throws InterruptedException {
    for (QueuedEvent queued = outbox.first();
        queued != null && untilRetry() <= 0;
        queued = outbox.first()) {
      Optional<Signer> signer = signer(queued.signing());
      if (signed == null && !sign(queued, signer)) {
        outbox.refused();
        continue;
      }
      Transport.Delivery delivery = transport.send(queued.connector(), signed);
      switch (delivery.outcome()) {
        case ACKNOWLEDGED -> {
          signed = null;
          outbox.sent();
          signer.ifPresent(Signer::acknowledged);
          pause = Duration.ZERO;
        }
        case REFUSED -> {
          signed = null;
          outbox.refused();
          LOGGER.warn(
              "{} refused a lineage event of {}: {}", target, queued.connector(), delivery.why());
        }
        case UNAVAILABLE -> backOff(delivery.why());
      }
    }
  }

  /** Signs each event only once, so that a retry sends the same bytes. */
  private boolean sign(QueuedEvent queued, Optional<Signer> signer) {
    try {
      signed = signer.map(known -> known.sign(queued.event())).orElse(queued.event());
    } catch (RuntimeException fault) {
      LOGGER.warn(
          "a lineage event of {} cannot be signed, and is dropped: {}",
          queued.connector(),
          fault.getClass().getName());
    }
    return signed != null;
  }

  /** Queues the heartbeats that are due, once all other events are delivered. */
  private void queueHeartbeats() {
    if (hasQueuedLastHeartbeats || !outbox.isEmpty() || (isEnding && !allRuns().isEmpty())) {
      return;
    }
    boolean isLast = isEnding;
    signers.forEach(
        (signing, signer) -> signer.ifPresent(known -> queueHeartbeat(signing, known, isLast)));
    hasQueuedLastHeartbeats = isLast;
  }

  private void queueHeartbeat(Settings.Signing signing, Signer signer, boolean isLast) {
    Drops drops = outbox.drops();
    if (signer.isHeartbeatDue(drops) || (isLast && signer.hasSentHeartbeat())) {
      outbox.put(new QueuedEvent(signer.nodeId(), signer.heartbeat(drops, isLast), signing));
      wake();
    }
  }

  private void backOff(String why) {
    if (pause.isZero()) {
      LOGGER.warn("{} takes no lineage events: {}; they wait and are retried", target, why);
    }
    Duration doubled = pause.multipliedBy(2);
    pause =
        pause.isZero()
            ? FIRST_PAUSE
            : doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
    retryAtNanos = System.nanoTime() + pause.toNanos();
  }

  /** Nanoseconds until the next attempt. At the shutdown, one is made at once. */
  private long untilRetry() {
    if (isEnding && !hasRetriedAtEnd) {
      hasRetriedAtEnd = true;
      retryAtNanos = System.nanoTime();
    }
    return pause.isZero() ? 0 : retryAtNanos - System.nanoTime();
  }

  private void waitForWork() throws InterruptedException {
    long millis = Math.max(1, outbox.isEmpty() ? untilHeartbeat() : untilRetry() / 1_000_000);
    for (ConnectorRun run : allRuns()) {
      Duration until = run.untilDue();
      millis = until == null ? millis : Math.min(millis, until.toMillis() + 1);
    }
    synchronized (signal) {
      if (!isSignalled) {
        signal.wait(Math.min(millis, Duration.ofMinutes(1).toMillis()));
      }
      isSignalled = false;
    }
  }

  private long untilHeartbeat() {
    return signers.values().stream()
        .flatMap(Optional::stream)
        .mapToLong(signer -> signer.untilDue().toMillis() + 1)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private boolean isStopped() {
    synchronized (signal) {
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

  private static void await(Condition condition, Duration timeout) throws InterruptedException {
    long end = System.nanoTime() + timeout.toNanos();
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
