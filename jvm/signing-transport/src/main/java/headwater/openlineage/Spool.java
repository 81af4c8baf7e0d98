package headwater.openlineage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Signed events on disk, one file each, in delivery order; those of dead processes first. */
final class Spool {
  /** An event on disk. */
  record SpooledEvent(Path file, long bytes) {}

  private static final Logger LOGGER = LoggerFactory.getLogger(Spool.class);
  private static final String EVENT = ".json";

  private final Path folder;
  private final long limitBytes;
  private final Deque<SpooledEvent> waiting = new ArrayDeque<>();
  private long bytes;
  private long written;

  Spool(Path folder, long limitBytes) {
    this.folder = folder;
    this.limitBytes = limitBytes;
  }

  /** Takes over the events in a dead process's folder. */
  synchronized void inherit(Path orphan) throws IOException {
    for (Path event : events(orphan)) {
      SpooledEvent found = new SpooledEvent(event, Files.size(event));
      waiting.addLast(found);
      bytes += found.bytes();
    }
  }

  synchronized boolean hasRoomFor(int size) {
    return bytes + size <= limitBytes;
  }

  synchronized void put(byte[] event) throws IOException {
    Path unfinished = folder.resolve("unfinished");
    Files.write(unfinished, event);
    Path whole = folder.resolve(String.format("%012d%s", written, EVENT));
    Files.move(unfinished, whole, StandardCopyOption.ATOMIC_MOVE);
    waiting.addLast(new SpooledEvent(whole, event.length));
    written++;
    bytes += event.length;
    notifyAll();
  }

  /** The oldest event; waits for one. */
  synchronized SpooledEvent first() throws InterruptedException {
    while (waiting.isEmpty()) {
      wait();
    }
    return waiting.peekFirst();
  }

  /**
   * Removes an event that was delivered or refused. A file that cannot be deleted blocks no other
   * event; the next process sends it again, and the service stores it once.
   */
  synchronized void remove(SpooledEvent event) {
    try {
      Files.deleteIfExists(event.file());
    } catch (IOException failure) {
      LOGGER.debug(
          "cannot delete a delivered lineage event from the spool: {}", failure.toString());
    }
    waiting.remove(event);
    bytes -= event.bytes();
    notifyAll();
  }

  /** Waits until the spool is empty; false after the timeout. */
  synchronized boolean awaitEmpty(long timeoutMs) throws InterruptedException {
    long until = System.nanoTime() + timeoutMs * 1_000_000;
    while (!waiting.isEmpty()) {
      long leftMs = (until - System.nanoTime()) / 1_000_000;
      if (leftMs <= 0) {
        return false;
      }
      wait(leftMs);
    }
    return true;
  }

  static List<Path> events(Path folder) throws IOException {
    try (Stream<Path> found = Files.list(folder)) {
      return found.filter(file -> file.toString().endsWith(EVENT)).sorted().toList();
    }
  }
}
