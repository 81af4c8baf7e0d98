package headwater.connect;

import headwater.signing.Chain;
import headwater.signing.Claim;
import headwater.signing.Drops;
import headwater.signing.Heartbeat;
import headwater.signing.NodeKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Signs events with one key, each in its place in a chain, from this emission's start to its end.
 * For one thread.
 *
 * <p>With a folder it keeps there where the chain stands, and follows those that ended before;
 * whatever the folder refuses, it goes on without.
 */
final class Signer {
  private static final Logger LOGGER = LoggerFactory.getLogger(Signer.class);
  private static final Duration HEARTBEAT = Duration.ofSeconds(60);

  private final Chain chain;
  private List<Claim> followed = List.of();
  private Claim claim;
  private boolean hasBeaten;
  private long spokenAtNanos = System.nanoTime();
  private Long toldOfDropsAtNanos;

  /**
   * @throws IOException if the key cannot be read
   */
  Signer(Settings.Signing signing) throws IOException {
    chain = new Chain(NodeKey.read(Path.of(signing.keyFile())), Chain.newEpoch());
    if (signing.chainFolder() != null) {
      keepIn(Path.of(signing.chainFolder()));
    }
  }

  private void keepIn(Path folder) {
    try {
      followed = Claim.orphans(folder);
      claim = Claim.create(folder);
      chain.follow(
          followed.stream()
              .map(each -> Chain.headIn(each.path()))
              .filter(Objects::nonNull)
              .toList());
    } catch (IOException | RuntimeException refused) {
      LOGGER.warn(
          "{}: the chain is not kept and follows none: {}",
          Settings.CHAIN_FOLDER,
          refused.toString());
    }
  }

  String nodeId() {
    return chain.nodeId();
  }

  /** Signs the event of a run in the next place; where the chain stands is kept before it goes. */
  byte[] sign(byte[] event) {
    byte[] signed = chain.sign(event);
    spokenAtNanos = System.nanoTime();
    if (claim != null) {
      try {
        chain.record(claim.path());
      } catch (IOException refused) {
        LOGGER.warn("{}: {}", Settings.CHAIN_FOLDER, refused.toString());
      }
    }
    return signed;
  }

  /** An event arrived that names the chains that this one follows: they need not be kept. */
  void arrived() {
    for (Claim each : followed) {
      try {
        each.remove();
      } catch (UncheckedIOException refused) {
        LOGGER.warn("{}: {}", Settings.CHAIN_FOLDER, refused.toString());
      }
    }
    followed = List.of();
    chain.follow(List.of());
  }

  /**
   * Whether it has to say something for itself. Of drops once an interval at most: where events are
   * refused, what tells of that is refused too.
   */
  boolean isDue(Drops drops) {
    return untilDue().isNegative() || (drops.hasNew() && mayTellOfDrops());
  }

  private boolean mayTellOfDrops() {
    return toldOfDropsAtNanos == null
        || System.nanoTime() - toldOfDropsAtNanos >= HEARTBEAT.toNanos();
  }

  /** The time until the next heartbeat or gap record is due, if nothing happens. */
  Duration untilDue() {
    return HEARTBEAT.minusNanos(System.nanoTime() - spokenAtNanos);
  }

  /** Whether a further heartbeat is expected. */
  boolean hasPromised() {
    return hasBeaten;
  }

  /** The unsigned heartbeat or gap record. */
  byte[] heartbeat(Drops drops, boolean isLast) {
    hasBeaten = true;
    toldOfDropsAtNanos = drops.hasNew() ? Long.valueOf(System.nanoTime()) : toldOfDropsAtNanos;
    return Heartbeat.of(chain, Events.PRODUCER, HEARTBEAT.toMillis(), drops.take(), isLast);
  }

  /** Leaves the chain's head to the next chain. */
  void close() {
    try {
      for (Claim each : followed) {
        each.release();
      }
      if (claim != null) {
        claim.release();
      }
    } catch (IOException refused) {
      LOGGER.warn("{}: {}", Settings.CHAIN_FOLDER, refused.toString());
    }
  }
}
