package headwater.lab.archive;

import java.io.ByteArrayOutputStream;

/**
 * The records of one object: those of a partition from the object's first offset up to the next
 * object's.
 *
 * <p>Objects start at fixed offsets (multiples of a number), so records that are written again
 * after a crash or a rebalance go into the same objects, and none is duplicated.
 */
final class Bucket {
  private final ByteArrayOutputStream lines = new ByteArrayOutputStream();
  private final long firstOffset;
  private final long end;
  private final long resumeOffset;
  private long nextOffset;
  private boolean isWritten;

  /**
   * Creates an empty bucket.
   *
   * @param offset of its first record
   * @param size number of offsets per object
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

  /** Whether a record with this offset, or a later one, was added already. */
  boolean isPast(long offset) {
    return offset < nextOffset;
  }

  /** The offset in its object's key. */
  long firstOffset() {
    return firstOffset;
  }

  /** The offset from which to read again to rewrite this object, as long as it is not full. */
  long resumeOffset() {
    return resumeOffset;
  }

  /** All lines, if any was added since the last write; null otherwise. */
  byte[] unwritten() {
    return isWritten ? null : lines.toByteArray();
  }

  void written() {
    isWritten = true;
  }
}
