package headwater.connect;

import headwater.signing.JsonReader;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Reads fields from the text of a registered schema. Types are named as Connect's converters name
 * them.
 */
final class RegisteredSchemas {
  /** The name and fields of a schema; the name may be null. */
  record ParsedSchema(String name, List<FieldShape> fields) {}

  private RegisteredSchemas() {}

  /**
   * Reads a schema; one of an unknown type has no fields.
   *
   * @throws RuntimeException if it cannot be parsed
   */
  static ParsedSchema read(String type, String text) {
    return switch (type) {
      case "AVRO" -> new AvroSchema().read(json(text));
      case "JSON" -> new JsonSchema(json(text)).read();
      case "PROTOBUF" -> ProtobufText.read(text);
      default -> new ParsedSchema(null, List.of());
    };
  }

  private static Object json(String text) {
    return JsonReader.read(text.getBytes(StandardCharsets.UTF_8));
  }
}
