package headwater.openlineage;

import headwater.signing.Chain;
import headwater.signing.Claim;
import headwater.signing.Drops;
import headwater.signing.Heartbeat;
import headwater.signing.InvalidJsonException;
import headwater.signing.NodeKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes events from any thread; one thread signs and spools them in the order of the puts, another
 * delivers them from the spool.
 */
final class Emission {
  private static final Logger LOGGER = LoggerFactory.getLogger(Emission.class);
  private static final String PRODUCER = "https://headwater.dev/producer/signing-transport/0.1.0";
  private static final long FIRST_PAUSE_MS = 500;
  private static final long LONGEST_PAUSE_MS = 30_000;
  private static final long GATHER_MS = 1000;
  private static final String WAKE_UP = "";
  private static final int HEARTBEAT_BYTES = 4096; // more than one has

  private final HeadwaterConfig config;
  private final BlockingQueue<String> queue;
  private final Drops drops = new Drops();
  private final Post post;
  private final Claim claim;
  private final List<Claim> inherited;
  private final Spool spool;
  private final Chain chain;
  private final Thread worker;
  private final Thread courier;
  private final AtomicLong accepted = new AtomicLong();
  private final AtomicLong handled = new AtomicLong();
  private final Semaphore hurry = new Semaphore(0);
  private volatile boolean isEnding;
  private byte[] unspooled;
  private boolean hasBeaten;
  private Long gapToldAtNanos;
  private long spokenAtNanos = System.nanoTime();

  Emission(HeadwaterConfig config, UnaryOperator<String> environ) {
    this.config = config;
    queue = new ArrayBlockingQueue<>(config.getQueueSize());
    post = new Post(config.endpoint(), config.getTokenEnv(), environ);
    Path parent = config.spool();
    try {
      inherited = new ArrayList<>(Claim.orphans(parent.getParent())); // of earlier versions
      inherited.addAll(Claim.orphans(parent));
      claim = Claim.create(parent);
      spool = new Spool(claim.path(), config.getSpoolMb() << 20);
      for (Claim each : inherited) {
        spool.inherit(each.path());
      }
    } catch (IOException failure) {
      throw new UncheckedIOException("lineage cannot be spooled under " + parent, failure);
    }
    chain = chainOf(config.folder().resolve("keys").resolve("node.key"));
    if (chain != null) {
      chain.follow(heads());
    }
    worker = started("headwater-lineage", this::work);
    courier = started("headwater-lineage-post", this::deliver);
  }

  private static Chain chainOf(Path key) {
    try {
      return new Chain(NodeKey.read(key), Chain.newEpoch());
    } catch (IOException missing) {
      LOGGER.error(
          "events go out unsigned: {}; `headwater key show` makes a key", missing.getMessage());
      return null;
    }
  }

  private List<Chain.Head> heads() {
    return inherited.stream()
        .map(each -> Chain.headIn(each.path()))
        .filter(Objects::nonNull)
        .toList();
  }

  private static Thread started(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** Takes an event; never waits. */
  void put(String event) {
    accepted.incrementAndGet();
    if (!queue.offer(event)) {
      handled.incrementAndGet();
      drops.count("queue full");
    }
  }

  void drop(String reason) {
    drops.count(reason);
  }

  /** How many events were dropped so far. */
  long dropped() {
    return drops.total();
  }

  /** Tries at once what waits for a service, and waits a while until all is delivered. */
  void flush() {
    hurry.release();
    long until = System.nanoTime() + config.getDrainTimeoutMs() * 1_000_000;
    long wanted = accepted.get();
    try {
      while (handled.get() < wanted && worker.isAlive() && System.nanoTime() < until) {
        Thread.sleep(5);
      }
      spool.settle(Math.max(0, (until - System.nanoTime()) / 1_000_000));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Ends the epoch: signs and spools what is left, waits a while for the deliveries, and leaves the
   * rest to the next process.
   */
  void close() {
    isEnding = true;
    queue.offer(WAKE_UP);
    hurry.release();
    try {
      worker.join(config.getDrainTimeoutMs());
      spool.settle(config.getDrainTimeoutMs());
      courier.interrupt();
      courier.join(config.getDrainTimeoutMs());
      leave();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (IOException | UncheckedIOException failure) {
      LOGGER.warn("what is left of the spool stays as it is", failure);
    }
  }

  private void leave() throws IOException {
    inherited.add(claim);
    for (Claim each : inherited) {
      if (Chain.headIn(each.path()) == null && Spool.events(each.path()).isEmpty()) {
        each.remove();
      } else {
        each.release();
      }
    }
  }

  // Signing, in one thread

  private void work() {
    while (!isEnding) {
      try {
        takeFromQueue(queue.poll(GATHER_MS, TimeUnit.MILLISECONDS));
        isAllSpooled();
        beatIfDue(false);
      } catch (InterruptedException strange) {
        isEnding = true;
      }
    }
    for (String event = queue.poll(); event != null; event = queue.poll()) {
      takeFromQueue(event);
    }
    beatIfDue(true);
    if (!isAllSpooled()) {
      drops.count("disk");
    }
  }

  private void takeFromQueue(String event) {
    if (event != null && !event.equals(WAKE_UP)) {
      take(event.getBytes(StandardCharsets.UTF_8));
      handled.incrementAndGet();
    }
  }

  private void take(byte[] raw) {
    if (!spool.hasRoomFor(raw.length)) {
      drops.count("spool full");
      return;
    }
    if (!isAllSpooled()) {
      drops.count("disk");
      return;
    }
    try {
      unspooled = chain == null ? raw : chain.sign(raw);
    } catch (InvalidJsonException unreadable) {
      LOGGER.warn("a lineage event cannot be read: {}", unreadable.getMessage());
      drops.count("cannot be read");
      return;
    } catch (RuntimeException fault) {
      LOGGER.warn("a lineage event cannot be signed: {}", fault.getClass().getName());
      drops.count("cannot be signed");
      return;
    }
    boolean isSigned = unspooled != raw;
    if (isAllSpooled()) {
      spokenAtNanos = System.nanoTime();
      if (isSigned) {
        settleInherited();
      }
    }
  }

  /**
   * Spools the event that the disk has not taken yet, if there is one: it has its place in the
   * chain, so nothing is to be signed behind it before.
   */
  private boolean isAllSpooled() {
    if (unspooled == null) {
      return true;
    }
    try {
      if (chain != null) {
        chain.record(claim.path());
      }
      spool.put(unspooled);
      unspooled = null;
    } catch (IOException failure) {
      return false;
    }
    return true;
  }

  /** An event that names the epochs that this one follows is safe: their heads may go. */
  private void settleInherited() {
    try {
      for (Claim each : inherited) {
        Chain.forget(each.path());
      }
      inherited.removeIf(
          each -> {
            if (!isEmpty(each)) {
              return false;
            }
            each.remove();
            return true;
          });
      chain.follow(List.of());
    } catch (IOException | UncheckedIOException failure) {
      LOGGER.warn("what dead processes left stays where it is: {}", failure.getMessage());
    }
  }

  private static boolean isEmpty(Claim each) {
    try {
      return Spool.events(each.path()).isEmpty();
    } catch (IOException unknown) {
      return false;
    }
  }

  private void beatIfDue(boolean isLast) {
    boolean canBeat = chain != null && spool.hasRoomFor(HEARTBEAT_BYTES) && isAllSpooled();
    if (!canBeat || !(isLast ? hasLastWords() : isDue())) {
      return; // where there is no room it would only count as one more that was dropped
    }
    hasBeaten = true;
    take(heartbeat(isLast));
  }

  private boolean hasLastWords() {
    return hasBeaten || drops.hasNew() || chain.hasUnsigned();
  }

  private boolean isDue() {
    boolean isSilent = System.nanoTime() - spokenAtNanos >= config.getHeartbeatMs() * 1_000_000;
    return isSilent || chain.shouldVouch() || isGapDue();
  }

  /** Once an interval at most. */
  private boolean isGapDue() {
    long sinceNanos = gapToldAtNanos == null ? Long.MAX_VALUE : System.nanoTime() - gapToldAtNanos;
    return drops.hasNew() && sinceNanos >= config.getHeartbeatMs() * 1_000_000;
  }

  private byte[] heartbeat(boolean isLast) {
    gapToldAtNanos = drops.hasNew() ? Long.valueOf(System.nanoTime()) : gapToldAtNanos;
    return Heartbeat.of(chain, PRODUCER, config.getHeartbeatMs(), drops.take(), isLast);
  }

  // Delivery, in another

  private void deliver() {
    long pauseMs = FIRST_PAUSE_MS;
    try {
      while (true) {
        String why = settle(spool.first());
        if (why == null) {
          pauseMs = FIRST_PAUSE_MS;
          continue;
        }
        if (pauseMs == FIRST_PAUSE_MS) { // once, until one is out of the way again
          LOGGER.warn("lineage events wait: {}", why);
        }
        if (hurry.tryAcquire(pauseMs, TimeUnit.MILLISECONDS)) {
          hurry.drainPermits();
        }
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    } catch (InterruptedException ending) {
      Thread.currentThread().interrupt();
    }
  }

  /** Delivers an event, unless the service will never take it; why it has to wait, or null. */
  private String settle(Spool.Waiting event) throws InterruptedException {
    try {
      Post.Outcome outcome = post.send(Files.readAllBytes(event.file()));
      if (outcome == Post.Outcome.UNAVAILABLE) {
        return "the service takes none now: " + post.why();
      }
      spool.done(event);
      if (outcome == Post.Outcome.REFUSED) {
        drops.count("refused by the service");
      }
    } catch (NoSuchFileException gone) { // deleted by what cleans up temporary folders, for one
      spool.done(event);
      drops.count("gone from the spool");
    } catch (IOException failure) {
      return "the spool cannot be read: " + failure;
    }
    return null;
  }
}
