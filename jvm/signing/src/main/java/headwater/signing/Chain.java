package headwater.signing;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The chain of one emission's events: numbered from 0, each with the hash of the one before. The
 * first events name the heads of earlier epochs. Not thread-safe.
 *
 * <p>Source: docs/decisions/0011-a-chain-for-each-emitter.md; vectors: `conformance/chain.json`
 */
public final class Chain {
  /** The last known event of an epoch. */
  public record Head(String epoch, long sequence, String payloadHash) {
    Map<String, Object> members() {
      return Map.of("epoch", epoch, "sequence", sequence, "payloadHash", payloadHash);
    }
  }

  public static final String FACET = "headwater_chain";
  private static final String SCHEMA =
      "https://headwater.dev/spec/facets/1-0-0/headwater_chain.json";
  private static final String HEAD = "head";
  private static final int HEAD_BYTES = 256;
  private static final int MAX_UNSIGNED = 64;

  private final NodeKey key;
  private final String epoch;
  private final List<String> unsigned = new ArrayList<>();
  private List<Head> follows = List.of();
  private long sequence = -1;
  private String headHash;

  public Chain(NodeKey key, String epoch) {
    this.key = key;
    this.epoch = epoch;
  }

  /** A UUID of version 7. Source: RFC 9562, section 5.7 */
  public static String newEpoch() {
    SecureRandom random = new SecureRandom();
    long high = System.currentTimeMillis() << 16 | 0x7000 | random.nextInt(1 << 12);
    return new UUID(high, random.nextLong() >>> 2 | 1L << 63).toString();
  }

  public String epoch() {
    return epoch;
  }

  public String nodeId() {
    return key.nodeId();
  }

  /** Names these heads in each event from now on. */
  public void follow(List<Head> heads) {
    follows = List.copyOf(heads);
  }

  /** Whether so many events were sent unsigned that a signed event should vouch for them now. */
  public boolean shouldVouch() {
    return unsigned.size() >= MAX_UNSIGNED;
  }

  public boolean hasUnsigned() {
    return !unsigned.isEmpty();
  }

  /**
   * Signs a run event with the next sequence number; returns any other event as it is, to be
   * vouched for later.
   */
  public byte[] sign(byte[] raw) {
    Map<String, Object> event = new LinkedHashMap<>();
    ((Map<?, ?>) JsonReader.read(raw)).forEach((name, value) -> event.put((String) name, value));
    if (!(event.get("run") instanceof Map<?, ?>)) {
      unsigned.add(EventSigner.payloadHash(raw));
      return raw;
    }
    Map<String, Object> runFacets = Map.of(FACET, facet((String) event.get("producer")));
    EventSigner.Signed signed = EventSigner.sign(event, runFacets, key, EventSigner.SCHEMA);
    sequence++;
    headHash = signed.payloadHash();
    unsigned.clear();
    return signed.event();
  }

  private Map<String, Object> facet(String producer) {
    Map<String, Object> facet = new LinkedHashMap<>();
    facet.put("_producer", producer);
    facet.put("_schemaURL", SCHEMA);
    facet.put("nodeId", key.nodeId());
    facet.put("epoch", epoch);
    facet.put("sequence", sequence + 1);
    facet.put("previousHash", headHash);
    facet.put("lastCheckpoint", null);
    if (!follows.isEmpty()) {
      facet.put("follows", follows.stream().map(Head::members).toList());
    }
    if (!unsigned.isEmpty()) {
      facet.put("unsigned", List.copyOf(unsigned));
    }
    return facet;
  }

  /** Overwrites the head in a folder; called before a signed event is sent. */
  public void writeHead(Path folder) throws IOException {
    if (headHash == null) {
      return;
    }
    byte[] head = CanonicalJson.write(new Head(epoch, sequence, headHash).members());
    byte[] padded = Arrays.copyOf(head, Math.max(head.length, HEAD_BYTES));
    Arrays.fill(padded, head.length, padded.length, (byte) ' ');
    try (FileChannel file =
        FileChannel.open(
            folder.resolve(HEAD), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(padded), 0);
    }
  }

  /** The head in a folder; null if there is none or it is unreadable, as after a power cut. */
  public static Head readHead(Path folder) {
    try {
      String text = Files.readString(folder.resolve(HEAD), StandardCharsets.UTF_8).strip();
      Map<?, ?> head = (Map<?, ?>) JsonReader.read(text.getBytes(StandardCharsets.UTF_8));
      long sequence = Long.parseLong(((NumberLiteral) head.get("sequence")).text());
      return new Head((String) head.get("epoch"), sequence, (String) head.get("payloadHash"));
    } catch (IOException | RuntimeException unreadable) {
      return null;
    }
  }

  /** Deletes the head in a folder, once an event that names it is safe. */
  public static void deleteHead(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(HEAD));
  }
}
