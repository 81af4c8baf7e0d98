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
 * Signs events with one key, as links of one chain, from this emission's start to its end. Not
 * thread-safe.
 *
 * <p>With a folder, it stores the chain's head there, and continues from chains that ended before.
 * Faults of the folder are logged, and signing continues without it.
 */
final class Signer {
  private static final Logger LOGGER = LoggerFactory.getLogger(Signer.class);
  private static final Duration HEARTBEAT = Duration.ofSeconds(60);

  private final Chain chain;
  private List<Claim> predecessors = List.of();
  private Claim claim;
  private boolean hasSentHeartbeat;
  private long signedAtNanos = System.nanoTime();
  private Long dropsReportedAtNanos;

  /**
   * @throws IOException if the key cannot be read
   */
  Signer(Settings.Signing signing) throws IOException {
    chain = new Chain(NodeKey.read(Path.of(signing.keyFile())), Chain.newEpoch());
    if (signing.chainFolder() != null) {
      openFolder(Path.of(signing.chainFolder()));
    }
  }

  private void openFolder(Path folder) {
    try {
      predecessors = Claim.orphans(folder);
      claim = Claim.create(folder);
      chain.follow(
          predecessors.stream()
              .map(each -> Chain.readHead(each.path()))
              .filter(Objects::nonNull)
              .toList());
    } catch (IOException | RuntimeException failure) {
      LOGGER.warn(
          "{}: cannot store the chain's head, nor continue from earlier chains: {}",
          Settings.CHAIN_FOLDER,
          failure.toString());
    }
  }

  String nodeId() {
    return chain.nodeId();
  }

  /** Signs a run's event as the next link; stores the chain's head before the event is sent. */
  byte[] sign(byte[] event) {
    byte[] signed = chain.sign(event);
    signedAtNanos = System.nanoTime();
    if (claim != null) {
      try {
        chain.writeHead(claim.path());
      } catch (IOException failure) {
        LOGGER.warn(
            "{}: cannot store the chain's head: {}", Settings.CHAIN_FOLDER, failure.toString());
      }
    }
    return signed;
  }

  /** Deletes the heads of earlier chains: an event that names them was acknowledged. */
  void acknowledged() {
    for (Claim each : predecessors) {
      try {
        each.remove();
      } catch (UncheckedIOException failure) {
        LOGGER.warn(
            "{}: cannot remove an earlier chain's head: {}",
            Settings.CHAIN_FOLDER,
            failure.toString());
      }
    }
    predecessors = List.of();
    chain.follow(List.of());
  }

  /**
   * Whether a heartbeat or gap record is due. Drops are reported once per interval at most: where
   * events are refused, the reports of that are refused too.
   */
  boolean isHeartbeatDue(Drops drops) {
    return untilDue().isNegative() || (drops.hasNew() && mayReportDrops());
  }

  private boolean mayReportDrops() {
    return dropsReportedAtNanos == null
        || System.nanoTime() - dropsReportedAtNanos >= HEARTBEAT.toNanos();
  }

  /** The time until the next heartbeat or gap record is due, if nothing happens. */
  Duration untilDue() {
    return HEARTBEAT.minusNanos(System.nanoTime() - signedAtNanos);
  }

  /** Whether a heartbeat was sent, so that a last one is expected. */
  boolean hasSentHeartbeat() {
    return hasSentHeartbeat;
  }

  /** The unsigned heartbeat or gap record. */
  byte[] heartbeat(Drops drops, boolean isLast) {
    hasSentHeartbeat = true;
    dropsReportedAtNanos = drops.hasNew() ? Long.valueOf(System.nanoTime()) : dropsReportedAtNanos;
    return Heartbeat.of(chain, Events.PRODUCER, HEARTBEAT.toMillis(), drops.take(), isLast);
  }

  /** Releases the chain's head for the next chain to continue from. */
  void close() {
    try {
      for (Claim each : predecessors) {
        each.release();
      }
      if (claim != null) {
        claim.release();
      }
    } catch (IOException failure) {
      LOGGER.warn(
          "{}: cannot release the chain's head: {}", Settings.CHAIN_FOLDER, failure.toString());
    }
  }
}
