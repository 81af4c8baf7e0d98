package headwater.connect;

import headwater.connect.Outbox.Letter;
import headwater.connect.Told.Kind;
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
  private final Map<Settings.Signing, Optional<Signer>> signers = new ConcurrentHashMap<>();
  private final Map<String, String> connectorClasses = new HashMap<>();
  private final Object bell = new Object();
  private boolean hasRung;
  private boolean isStopped;
  private volatile boolean isEnding;
  private volatile boolean hasSaidLast;
  private boolean hasHurried;
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
    // Not the loader of whichever connector happened to come first, which the worker may want to
    // forget.
    thread.setContextClassLoader(Emission.class.getClassLoader());
    thread.start();
  }

  /** A task starts: returns what watches it. A key that could not be read before is tried again. */
  TaskObserver open(String connector, Integer task, Settings settings) {
    signers.values().removeIf(Optional::isEmpty);
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
    isEnding = true;
    wake();
    await(() -> hasSaidLast && outbox.isEmpty(), forEvents);
    if (!outbox.isEmpty()) {
      LOGGER.warn(
          "{} took no lineage events before the end: {} are lost",
          target,
          outbox.getlineage_events_waiting());
    }
  }

  /** Ends the thread; waiting events are lost. */
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
        beat();
        rest();
      } catch (InterruptedException ended) {
        break;
      } catch (Throwable fault) {
        // An observer's faults must never affect the worker: log, and go on.
        LOGGER.warn("lineage to {}: {}", target, fault.toString());
        pause(FIRST_PAUSE);
      }
    }
    transport.close();
    signers.values().forEach(signer -> signer.ifPresent(Signer::close));
  }

  private void collect() {
    for (ConnectorRun run : allRuns()) {
      if (Duration.ZERO.equals(run.untilDue())) {
        learn(run);
      }
      for (Told told : run.due()) {
        Map<String, Object> event = Events.of(told, kafkaVersion, connectorClass(told));
        outbox.put(
            new Letter(told.connector(), CanonicalJson.write(event), told.settings().signing()));
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

  /** Costs the more the more tasks the worker has, so it is not for a run that tells nothing. */
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
      Optional<Signer> signer = signer(letter.signing());
      if (signed == null && !sign(letter, signer)) {
        outbox.refused();
        continue;
      }
      Transport.Delivery delivery = transport.send(letter.connector(), signed);
      switch (delivery.outcome()) {
        case ACKNOWLEDGED -> {
          signed = null;
          outbox.sent();
          signer.ifPresent(Signer::arrived);
          pause = Duration.ZERO;
        }
        case REFUSED -> {
          signed = null;
          outbox.refused();
          LOGGER.warn(
              "{} refused a lineage event of {}: {}", target, letter.connector(), delivery.why());
        }
        case UNAVAILABLE -> tryLater(delivery.why());
      }
    }
  }

  /** Signs each event only once, so that a retry sends the same bytes. */
  private boolean sign(Letter letter, Optional<Signer> signer) {
    try {
      signed = signer.map(known -> known.sign(letter.event())).orElse(letter.event());
    } catch (RuntimeException fault) {
      LOGGER.warn(
          "a lineage event of {} cannot be signed: {}",
          letter.connector(),
          fault.getClass().getName());
    }
    return signed != null;
  }

  /** Says for itself what is due, once all else is said. */
  private void beat() {
    if (hasSaidLast || !outbox.isEmpty() || (isEnding && !allRuns().isEmpty())) {
      return;
    }
    boolean isLast = isEnding;
    signers.forEach((signing, signer) -> signer.ifPresent(known -> beat(signing, known, isLast)));
    hasSaidLast = isLast;
  }

  private void beat(Settings.Signing signing, Signer signer, boolean isLast) {
    Drops drops = outbox.drops();
    if (signer.isDue(drops) || (isLast && signer.hasPromised())) {
      outbox.put(new Letter(signer.nodeId(), signer.heartbeat(drops, isLast), signing));
      wake();
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

  /** At the end what waits is tried once more at once. */
  private long untilRetry() {
    if (isEnding && !hasHurried) {
      hasHurried = true;
      retryAtNanos = System.nanoTime();
    }
    return pause.isZero() ? 0 : retryAtNanos - System.nanoTime();
  }

  private void rest() throws InterruptedException {
    long millis = Math.max(1, outbox.isEmpty() ? untilBeat() : untilRetry() / 1_000_000);
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

  private long untilBeat() {
    return signers.values().stream()
        .flatMap(Optional::stream)
        .mapToLong(signer -> signer.untilDue().toMillis() + 1)
        .min()
        .orElse(Long.MAX_VALUE);
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
