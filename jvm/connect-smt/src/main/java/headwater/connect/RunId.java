package headwater.connect;

import java.security.SecureRandom;
import java.time.Instant;
import java.util.UUID;

/**
 * Run ids: UUIDs of version 7, which sort by the start of their runs. Source: RFC 9562, section 5.7
 */
final class RunId {
  private static final SecureRandom RANDOM = new SecureRandom();

  private RunId() {}

  static UUID startedAt(Instant start) {
    long time = start.toEpochMilli() << 16;
    long version = 0x7000L | RANDOM.nextInt(1 << 12);
    return new UUID(time | version, RANDOM.nextLong() >>> 2 | 0x8000_0000_0000_0000L);
  }
}
