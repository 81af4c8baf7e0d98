package headwater.connect;

import headwater.signing.JsonReader;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Reads fields from the text of a schema in the registry. Types are named as the converters of
 * Connect would have them.
 */
final class RegisteredSchemas {
  /** What a schema's text says; the name may be null. */
  record Read(String name, List<FieldShape> fields) {}

  private RegisteredSchemas() {}

  /**
   * Reads a schema; one of a type that is not known has no fields.
   *
   * @throws RuntimeException it cannot be read
   */
  static Read read(String type, String text) {
    return switch (type) {
      case "AVRO" -> new AvroSchema().read(json(text));
      case "JSON" -> new JsonSchema(json(text)).read();
      case "PROTOBUF" -> ProtobufText.read(text);
      default -> new Read(null, List.of());
    };
  }

  private static Object json(String text) {
    return JsonReader.read(text.getBytes(StandardCharsets.UTF_8));
  }
}
