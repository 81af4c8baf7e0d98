package headwater.lab.archive;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;

/** Formats a record as a line of JSON: its position in the topic, its key and its value. */
final class Line {
  private final JsonConverter converter = new JsonConverter();

  Line() {
    converter.configure(
        Map.of("schemas.enable", "false", "decimal.format", "NUMERIC", "converter.type", "value"));
  }

  byte[] of(SinkRecord record) {
    String line =
        "{\"partition\":%d,\"offset\":%d,\"timestamp\":%s,\"key\":%s,\"value\":%s}"
            .formatted(
                record.kafkaPartition(),
                record.kafkaOffset(),
                record.timestamp(),
                json(record.keySchema(), record.key()),
                json(record.valueSchema(), record.value()));
    return line.getBytes(UTF_8);
  }

  private String json(Schema schema, Object value) {
    return value == null
        ? "null"
        : new String(converter.fromConnectData("archive", schema, value), UTF_8);
  }
}
