package headwater.lab.archive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.junit.jupiter.api.Test;

class ArchiveTest {
  private static final TopicPartition PARTITION = new TopicPartition("orders", 2);
  private static final String FIRST = "raw/orders/partition=2/000000000000.jsonl";
  private static final String SECOND = "raw/orders/partition=2/000000000010.jsonl";

  private final Memory store = new Memory();
  private final Archive archive = archive();

  @Test
  void recordsAreWrittenToTheObjectOfTheirOffset() {
    add(archive, 0, 13);

    archive.write();

    assertThat(store.offsets(FIRST)).isEqualTo(range(0, 10));
    assertThat(store.offsets(SECOND)).isEqualTo(range(10, 13));
  }

  @Test
  void anObjectThatIsNotFullIsWrittenAgainWithNewRecords() {
    add(archive, 0, 4);
    archive.write();
    add(archive, 4, 6);

    archive.write();

    assertThat(store.offsets(FIRST)).isEqualTo(range(0, 6));
  }

  @Test
  void theCommittedOffsetIsThatAfterFullObjects() {
    add(archive, 0, 13);

    assertThat(archive.write()).containsExactly(Map.entry(PARTITION, 10L));
  }

  @Test
  void nothingIsDuplicatedAfterACrash() {
    add(archive, 0, 13);
    long resume = archive.write().get(PARTITION);
    Archive afterwards = archive();

    add(afterwards, resume, 15);
    afterwards.write();

    assertThat(store.offsets(FIRST)).isEqualTo(range(0, 10));
    assertThat(store.offsets(SECOND)).isEqualTo(range(10, 15));
  }

  @Test
  void nothingIsDuplicatedIfTheCommitFailedAndAllIsDeliveredAgain() {
    add(archive, 0, 13);
    archive.write();

    add(archive, 0, 15);
    archive.write();

    assertThat(store.offsets(FIRST)).isEqualTo(range(0, 10));
    assertThat(store.offsets(SECOND)).isEqualTo(range(10, 15));
  }

  @Test
  void aFailedWriteIsRetriedTheNextTime() {
    add(archive, 0, 3);
    store.isDown = true;
    assertThatThrownBy(archive::write).isInstanceOf(RetriableException.class);
    store.isDown = false;

    add(archive, 0, 3);
    archive.write();

    assertThat(store.offsets(FIRST)).isEqualTo(range(0, 3));
  }

  @Test
  void aRevokedPartitionIsNotWrittenAnyMore() {
    add(archive, 0, 3);

    archive.discard(List.of(PARTITION));

    assertThat(archive.write()).isEmpty();
    assertThat(store.objects).isEmpty();
  }

  @Test
  void aTopicWhoseFirstRecordsWereDeletedIsReadAgainFromItsFirst() {
    add(archive, 7, 9);

    assertThat(archive.write()).containsExactly(Map.entry(PARTITION, 7L));
    assertThat(store.offsets(FIRST)).isEqualTo(range(7, 9));
  }

  @Test
  void aLineHasTheRecordsPositionKeyAndValue() {
    SinkRecord record =
        new SinkRecord("t", 0, null, null, null, Map.of("a", 1), 5, 17L, TimestampType.CREATE_TIME);

    assertThat(new String(new Line().of(record), UTF_8))
        .isEqualTo(
            "{\"partition\":0,\"offset\":5,\"timestamp\":17,\"key\":null,\"value\":{\"a\":1}}");
  }

  private Archive archive() {
    return new Archive(new ArchiveSettings("b", "raw", "r", Optional.empty(), 10), store);
  }

  private static void add(Archive archive, long first, long end) {
    for (long offset = first; offset < end; offset++) {
      archive.add(
          new SinkRecord("orders", 2, Schema.STRING_SCHEMA, "k", Schema.INT64_SCHEMA, 1L, offset));
    }
  }

  private static List<Long> range(long first, long end) {
    return LongStream.range(first, end).boxed().toList();
  }

  private static final class Memory implements ObjectStore {
    final Map<String, byte[]> objects = new LinkedHashMap<>();
    boolean isDown;

    @Override
    public void put(String key, byte[] content) {
      if (isDown) {
        throw new RetriableException("down");
      }
      objects.put(key, content);
    }

    List<Long> offsets(String key) {
      return new String(objects.get(key), UTF_8)
          .lines()
          .map(line -> Long.valueOf(line.replaceAll(".*\"offset\":(\\d+).*", "$1")))
          .toList();
    }

    @Override
    public void close() {
      // There is nothing to release.
    }
  }
}
