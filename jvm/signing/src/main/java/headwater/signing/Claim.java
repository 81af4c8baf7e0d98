package headwater.signing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * A directory that belongs to one living process, which holds a lock on a file in it. The kernel
 * releases the lock when the process dies, however it dies; the next process to lock it owns it.
 */
public final class Claim {
  private static final String LOCK = "lock";
  private static final FileAttribute<?> OWNERS_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  /**
   * Prefix of the system properties that name this JVM's directories, across class loaders: opening
   * and closing a lock file that this process holds would release its lock.
   */
  private static final String HELD = "headwater.lineage.claim.";

  private final Path path;
  private final FileChannel channel;

  private Claim(Path path, FileChannel channel) {
    this.path = path;
    this.channel = channel;
    System.setProperty(HELD + path.getFileName(), "");
  }

  public Path path() {
    return path;
  }

  /** Creates a new directory under `parent`; it gets its final name only once it is locked. */
  public static Claim create(Path parent) throws IOException {
    Files.createDirectories(parent);
    String name =
        String.format(
            "%020d-%d-%08x",
            System.currentTimeMillis() * 1_000_000 + System.nanoTime() % 1_000_000,
            ProcessHandle.current().pid(),
            new Random().nextInt());
    Path unlocked = Files.createDirectory(parent.resolve(".new-" + name), OWNERS_ONLY);
    FileChannel channel = open(unlocked);
    if (channel.tryLock() == null) {
      throw new IOException(unlocked + " cannot be locked");
    }
    return new Claim(Files.move(unlocked, parent.resolve(name)), channel);
  }

  /** Claims the directories of dead processes under `parent`, oldest first. */
  public static List<Claim> orphans(Path parent) throws IOException {
    List<Claim> claimed = new ArrayList<>();
    if (!Files.isDirectory(parent)) {
      return claimed;
    }
    try (Stream<Path> found = Files.list(parent)) {
      for (Path path : found.filter(Claim::mayBeOrphan).sorted().toList()) {
        Claim claim = claimed(path);
        if (claim != null) {
          claimed.add(claim);
        }
      }
    }
    return claimed;
  }

  private static boolean mayBeOrphan(Path path) {
    String name = path.getFileName().toString();
    return Character.isDigit(name.charAt(0)) && System.getProperty(HELD + name) == null;
  }

  private static Claim claimed(Path path) {
    try {
      FileChannel channel = open(path);
      FileLock lock = channel.tryLock();
      if (lock != null && Files.exists(path.resolve(LOCK))) {
        return new Claim(path, channel);
      }
      channel.close();
    } catch (IOException | OverlappingFileLockException taken) {
      // Its owner is alive, or removed it meanwhile.
    }
    return null;
  }

  private static FileChannel open(Path path) throws IOException {
    return FileChannel.open(
        path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  }

  /** Leaves the directory to the next process. */
  public void release() throws IOException {
    channel.close();
    System.clearProperty(HELD + path.getFileName());
  }

  /** Deletes the directory with all files in it. */
  public void remove() {
    try (Stream<Path> files = Files.list(path)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
      Files.delete(path);
      release();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
