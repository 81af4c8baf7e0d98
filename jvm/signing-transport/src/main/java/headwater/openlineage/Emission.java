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
 * Accepts events from any thread. One thread signs and spools them in the order of the puts,
 * another delivers them from the spool.
 */
final class Emission {
  private static final Logger LOGGER = LoggerFactory.getLogger(Emission.class);
  private static final String PRODUCER = "https://headwater.dev/producer/signing-transport/0.1.0";
  private static final long FIRST_PAUSE_MS = 500;
  private static final long LONGEST_PAUSE_MS = 30_000;
  private static final long POLL_MS = 1000;
  private static final String WAKE_UP = "";
  private static final int HEARTBEAT_BYTES = 4096; // an upper limit of its size

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
  private final Semaphore retryNow = new Semaphore(0);
  private volatile boolean isEnding;
  private byte[] pending;
  private boolean hasSentHeartbeat;
  private Long gapReportedAtNanos;
  private long spooledAtNanos = System.nanoTime();

  Emission(HeadwaterConfig config, UnaryOperator<String> environ) {
    this.config = config;
    queue = new ArrayBlockingQueue<>(config.getQueueSize());
    post = new Post(config.endpoint(), config.getTokenEnv(), environ);
    Path parent = config.spool();
    try {
      inherited = new ArrayList<>(Claim.orphans(parent.getParent())); // written by earlier versions
      inherited.addAll(Claim.orphans(parent));
      claim = Claim.create(parent);
      spool = new Spool(claim.path(), config.getSpoolMb() << 20);
      for (Claim each : inherited) {
        spool.inherit(each.path());
      }
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot create the spool under " + parent, failure);
    }
    chain = chainOf(config.folder().resolve("keys").resolve("node.key"));
    if (chain != null) {
      chain.follow(heads());
    }
    worker = started("headwater-lineage", this::signEvents);
    courier = started("headwater-lineage-post", this::deliverEvents);
  }

  private static Chain chainOf(Path key) {
    try {
      return new Chain(NodeKey.read(key), Chain.newEpoch());
    } catch (IOException missing) {
      LOGGER.error(
          "events go unsigned: {}; `headwater key show` creates a key", missing.getMessage());
      return null;
    }
  }

  private List<Chain.Head> heads() {
    return inherited.stream()
        .map(each -> Chain.readHead(each.path()))
        .filter(Objects::nonNull)
        .toList();
  }

  private static Thread started(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** Accepts an event; never blocks. */
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

  /** The number of events dropped so far. */
  long dropped() {
    return drops.total();
  }

  /** Retries at once, and waits up to the drain timeout until all events are delivered. */
  void flush() {
    retryNow.release();
    long until = System.nanoTime() + config.getDrainTimeoutMs() * 1_000_000;
    long wanted = accepted.get();
    try {
      while (handled.get() < wanted && worker.isAlive() && System.nanoTime() < until) {
        Thread.sleep(5);
      }
      spool.awaitEmpty(Math.max(0, (until - System.nanoTime()) / 1_000_000));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Ends the epoch: signs and spools the queue, waits up to the drain timeout for deliveries, and
   * leaves the rest to the next process.
   */
  void close() {
    isEnding = true;
    queue.offer(WAKE_UP);
    retryNow.release();
    try {
      worker.join(config.getDrainTimeoutMs());
      spool.awaitEmpty(config.getDrainTimeoutMs());
      courier.interrupt();
      courier.join(config.getDrainTimeoutMs());
      releaseClaims();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (IOException | UncheckedIOException failure) {
      LOGGER.warn("cannot remove or release the spool of lineage events", failure);
    }
  }

  private void releaseClaims() throws IOException {
    inherited.add(claim);
    for (Claim each : inherited) {
      if (Chain.readHead(each.path()) == null && Spool.events(each.path()).isEmpty()) {
        each.remove();
      } else {
        each.release();
      }
    }
  }

  // The signing thread

  private void signEvents() {
    while (!isEnding) {
      try {
        handle(queue.poll(POLL_MS, TimeUnit.MILLISECONDS));
        spoolPending();
        heartbeatIfDue(false);
      } catch (InterruptedException interrupted) {
        isEnding = true;
      }
    }
    for (String event = queue.poll(); event != null; event = queue.poll()) {
      handle(event);
    }
    heartbeatIfDue(true);
    if (!spoolPending()) {
      drops.count("disk");
    }
  }

  private void handle(String event) {
    if (event != null && !event.equals(WAKE_UP)) {
      signAndSpool(event.getBytes(StandardCharsets.UTF_8));
      handled.incrementAndGet();
    }
  }

  private void signAndSpool(byte[] raw) {
    if (!spool.hasRoomFor(raw.length)) {
      drops.count("spool full");
      return;
    }
    if (!spoolPending()) {
      drops.count("disk");
      return;
    }
    try {
      pending = chain == null ? raw : chain.sign(raw);
    } catch (InvalidJsonException unreadable) {
      LOGGER.warn("cannot read a lineage event, which is dropped: {}", unreadable.getMessage());
      drops.count("cannot be read");
      return;
    } catch (RuntimeException fault) {
      LOGGER.warn("cannot sign a lineage event, which is dropped: {}", fault.getClass().getName());
      drops.count("cannot be signed");
      return;
    }
    boolean isSigned = pending != raw;
    if (spoolPending()) {
      spooledAtNanos = System.nanoTime();
      if (isSigned) {
        releaseInherited();
      }
    }
  }

  /**
   * Spools the signed event that could not be written yet, if any; whether none is left. It has its
   * sequence number already, so no other may be signed before it is spooled.
   */
  private boolean spoolPending() {
    if (pending == null) {
      return true;
    }
    try {
      if (chain != null) {
        chain.writeHead(claim.path());
      }
      spool.put(pending);
      pending = null;
    } catch (IOException failure) {
      return false;
    }
    return true;
  }

  /** Deletes the heads of earlier epochs, once an event that names them is spooled. */
  private void releaseInherited() {
    try {
      for (Claim each : inherited) {
        Chain.deleteHead(each.path());
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
      LOGGER.warn("cannot remove the spools of dead processes: {}", failure.getMessage());
    }
  }

  private static boolean isEmpty(Claim each) {
    try {
      return Spool.events(each.path()).isEmpty();
    } catch (IOException unknown) {
      return false;
    }
  }

  private void heartbeatIfDue(boolean isLast) {
    boolean canSend = chain != null && spool.hasRoomFor(HEARTBEAT_BYTES) && spoolPending();
    if (!canSend || !(isLast ? isLastHeartbeatNeeded() : isHeartbeatDue())) {
      return; // without room in the spool it would only be dropped, and counted
    }
    hasSentHeartbeat = true;
    signAndSpool(heartbeat(isLast));
  }

  private boolean isLastHeartbeatNeeded() {
    return hasSentHeartbeat || drops.hasNew() || chain.hasUnsigned();
  }

  private boolean isHeartbeatDue() {
    boolean isSilent = System.nanoTime() - spooledAtNanos >= config.getHeartbeatMs() * 1_000_000;
    return isSilent || chain.shouldVouch() || isGapDue();
  }

  /** Whether a gap is to be reported: at most one per heartbeat interval. */
  private boolean isGapDue() {
    long sinceNanos =
        gapReportedAtNanos == null ? Long.MAX_VALUE : System.nanoTime() - gapReportedAtNanos;
    return drops.hasNew() && sinceNanos >= config.getHeartbeatMs() * 1_000_000;
  }

  private byte[] heartbeat(boolean isLast) {
    gapReportedAtNanos = drops.hasNew() ? Long.valueOf(System.nanoTime()) : gapReportedAtNanos;
    return Heartbeat.of(chain, PRODUCER, config.getHeartbeatMs(), drops.take(), isLast);
  }

  // The delivery thread

  private void deliverEvents() {
    long pauseMs = FIRST_PAUSE_MS;
    try {
      while (true) {
        String why = deliver(spool.first());
        if (why == null) {
          pauseMs = FIRST_PAUSE_MS;
          continue;
        }
        if (pauseMs == FIRST_PAUSE_MS) { // only at the first failure in a row
          LOGGER.warn("lineage events wait for delivery: {}", why);
        }
        if (retryNow.tryAcquire(pauseMs, TimeUnit.MILLISECONDS)) {
          retryNow.drainPermits();
        }
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    } catch (InterruptedException ending) {
      Thread.currentThread().interrupt();
    }
  }

  /** Delivers or drops an event; returns null, or the reason why it has to wait. */
  private String deliver(Spool.SpooledEvent event) throws InterruptedException {
    try {
      Post.Outcome outcome = post.send(Files.readAllBytes(event.file()));
      if (outcome == Post.Outcome.UNAVAILABLE) {
        return "the service accepts no events now: " + post.why();
      }
      spool.remove(event);
      if (outcome == Post.Outcome.REFUSED) {
        drops.count("refused by the service");
      }
    } catch (NoSuchFileException gone) { // for example, deleted by a cleaner of temporary folders
      spool.remove(event);
      drops.count("gone from the spool");
    } catch (IOException failure) {
      return "the spool cannot be read: " + failure;
    }
    return null;
  }
}
