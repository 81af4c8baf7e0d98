package headwater.lab.archive;

import java.io.ByteArrayOutputStream;

/**
 * The records of one object: those of a partition from an offset that the object is named by, up to
 * the next such offset.
 *
 * <p>Which offsets begin an object is fixed (each multiple of a number), so whoever writes records
 * again, after a crash or a rebalance, writes them into the same objects: none is there twice.
 */
final class Bucket {
  private final ByteArrayOutputStream lines = new ByteArrayOutputStream();
  private final long firstOffset;
  private final long end;
  private final long resumeOffset;
  private long nextOffset;
  private boolean isWritten;

  /**
   * A new one, empty.
   *
   * @param offset of the first record that is put into it
   * @param size how many offsets an object is for
   */
  Bucket(long offset, long size) {
    firstOffset = offset - offset % size;
    end = firstOffset + size;
    resumeOffset = offset;
    nextOffset = offset;
  }

  boolean isFor(long offset) {
    return firstOffset <= offset && offset < end;
  }

  void add(long offset, byte[] line) {
    lines.writeBytes(line);
    lines.write('\n');
    nextOffset = offset + 1;
    isWritten = false;
  }

  /** Whether a record with this offset, or a later one, is in here already. */
  boolean isPast(long offset) {
    return offset < nextOffset;
  }

  /** The offset that its object is named by. */
  long firstOffset() {
    return firstOffset;
  }

  /** From where one must read again to write this object anew, as long as it is not full. */
  long resumeOffset() {
    return resumeOffset;
  }

  /** All lines, if any was added since the last time; null otherwise. */
  byte[] unwritten() {
    return isWritten ? null : lines.toByteArray();
  }

  void written() {
    isWritten = true;
  }
}
