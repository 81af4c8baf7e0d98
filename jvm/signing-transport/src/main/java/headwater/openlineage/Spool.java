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

/**
 * Signed events on disk, a file each, in the order in which they are to be delivered; what dead
 * processes left goes first.
 */
final class Spool {
  /** An event on disk. */
  record Waiting(Path file, long bytes) {}

  private static final Logger LOGGER = LoggerFactory.getLogger(Spool.class);
  private static final String EVENT = ".json";

  private final Path folder;
  private final long limitBytes;
  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private long bytes;
  private long written;

  Spool(Path folder, long limitBytes) {
    this.folder = folder;
    this.limitBytes = limitBytes;
  }

  /** Takes over the events in a dead process's folder. */
  synchronized void inherit(Path left) throws IOException {
    for (Path event : events(left)) {
      Waiting found = new Waiting(event, Files.size(event));
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
    waiting.addLast(new Waiting(whole, event.length));
    written++;
    bytes += event.length;
    notifyAll();
  }

  /** The oldest event; waits for one. */
  synchronized Waiting first() throws InterruptedException {
    while (waiting.isEmpty()) {
      wait();
    }
    return waiting.peekFirst();
  }

  /**
   * Lets go of an event: it was delivered, or never will be. One that the disk does not give up
   * holds up no other; the next process sends it again, and a service stores it once.
   */
  synchronized void done(Waiting event) {
    try {
      Files.deleteIfExists(event.file());
    } catch (IOException failure) {
      LOGGER.debug("a lineage event stays on the disk: {}", failure.toString());
    }
    waiting.remove(event);
    bytes -= event.bytes();
    notifyAll();
  }

  /** Waits until nothing waits; false if something still does after so long. */
  synchronized boolean settle(long withinMs) throws InterruptedException {
    long until = System.nanoTime() + withinMs * 1_000_000;
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
