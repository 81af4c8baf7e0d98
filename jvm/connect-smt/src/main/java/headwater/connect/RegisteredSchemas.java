package headwater.connect;

import headwater.signing.JsonReader;
import headwater.signing.NumberLiteral;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

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
      case "AVRO" -> new Avro().read(json(text));
      case "JSON" -> new JsonSchema(json(text)).read();
      case "PROTOBUF" -> ProtobufText.read(text);
      default -> new Read(null, List.of());
    };
  }

  private static Object json(String text) {
    return JsonReader.read(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Source: Apache Avro 1.12, specification, "Schema declaration" */
  private static final class Avro {
    private static final int MAX_DEPTH = 12;
    private static final Map<String, String> PRIMITIVE =
        Map.of(
            "int", "int32", "long", "int64", "float", "float32", "double", "float64", "fixed",
            "bytes", "enum", "string");
    private static final Map<String, String> LOGICAL =
        Map.of(
            "date",
            "date",
            "time-millis",
            "time",
            "time-micros",
            "time",
            "timestamp-millis",
            "timestamp",
            "timestamp-micros",
            "timestamp",
            "uuid",
            "uuid");

    private final Map<String, Map<?, ?>> named = new HashMap<>();

    Read read(Object schema) {
      Object top = resolved(schema);
      if (top instanceof Map<?, ?> record && "record".equals(record.get("type"))) {
        return new Read((String) record.get("name"), fields(record, 0));
      }
      return new Read(null, List.of(field("value", schema, null, 0)));
    }

    private List<FieldShape> fields(Map<?, ?> record, int depth) {
      named.put((String) record.get("name"), record);
      List<FieldShape> fields = new ArrayList<>();
      for (Object one : (List<?>) record.get("fields")) {
        Map<?, ?> field = (Map<?, ?>) one;
        fields.add(
            field(
                (String) field.get("name"),
                field.get("type"),
                (String) field.get("doc"),
                depth + 1));
      }
      return fields;
    }

    private FieldShape field(String name, Object schema, String doc, int depth) {
      return new FieldShape(name, typeName(schema, depth), doc, nested(schema, depth));
    }

    private List<FieldShape> nested(Object schema, int depth) {
      if (depth >= MAX_DEPTH || !(resolved(schema) instanceof Map<?, ?> complex)) {
        return List.of();
      }
      return switch (String.valueOf(complex.get("type"))) {
        case "record" -> fields(complex, depth);
        case "array" -> nested(complex.get("items"), depth + 1);
        case "map" -> nested(complex.get("values"), depth + 1);
        default -> List.of();
      };
    }

    private String typeName(Object schema, int depth) {
      Object plain = resolved(schema);
      if (plain instanceof List<?>) {
        return "union";
      }
      if (!(plain instanceof Map<?, ?> complex)) {
        return PRIMITIVE.getOrDefault(String.valueOf(plain), String.valueOf(plain));
      }
      String type = String.valueOf(complex.get("type"));
      if (complex.get("logicalType") instanceof String logical) {
        if (logical.equals("decimal")) {
          return "decimal("
              + text(complex.get("precision"), "?")
              + ","
              + text(complex.get("scale"), "0")
              + ")";
        }
        if (LOGICAL.containsKey(logical)) {
          return LOGICAL.get(logical);
        }
      }
      named.putIfAbsent(String.valueOf(complex.get("name")), complex);
      if (depth >= MAX_DEPTH) {
        return type;
      }
      return switch (type) {
        case "record" -> "struct";
        case "array" -> "array<" + typeName(complex.get("items"), depth + 1) + ">";
        case "map" -> "map<string," + typeName(complex.get("values"), depth + 1) + ">";
        default -> PRIMITIVE.getOrDefault(type, type);
      };
    }

    /** What an optional, a name, or `{"type": {…}}` stands for. */
    private Object resolved(Object schema) {
      if (schema instanceof List<?> union) {
        List<?> others = union.stream().filter(one -> !"null".equals(one)).toList();
        return others.size() == 1 ? resolved(others.get(0)) : others;
      }
      if (schema instanceof Map<?, ?> map && !(map.get("type") instanceof String)) {
        return resolved(map.get("type"));
      }
      if (schema instanceof String name) {
        Map<?, ?> known = named.get(name.substring(name.lastIndexOf('.') + 1));
        return known == null ? schema : known;
      }
      return schema;
    }

    private static String text(Object number, String otherwise) {
      return number instanceof NumberLiteral literal ? literal.text() : otherwise;
    }
  }

  /**
   * Source: JSON Schema 2020-12, validation vocabulary, `type`; references within the text are
   * followed
   */
  private record JsonSchema(Object root) {
    private static final int MAX_DEPTH = 12;

    Read read() {
      Map<?, ?> top = resolved(root);
      String name = top.get("title") instanceof String title ? title : null;
      List<FieldShape> fields = nested(top, 0);
      return new Read(name, fields.isEmpty() ? List.of(field("value", root, 0)) : fields);
    }

    private FieldShape field(String name, Object schema, int depth) {
      Map<?, ?> plain = resolved(schema);
      String doc = plain.get("description") instanceof String text ? text : null;
      return new FieldShape(name, typeName(plain, depth), doc, nested(plain, depth));
    }

    private List<FieldShape> nested(Map<?, ?> schema, int depth) {
      List<FieldShape> fields = new ArrayList<>();
      if (depth >= MAX_DEPTH) {
        return fields;
      }
      if (schema.get("properties") instanceof Map<?, ?> properties) {
        properties.forEach(
            (name, property) -> fields.add(field((String) name, property, depth + 1)));
      } else if (schema.containsKey("items")) {
        return nested(resolved(schema.get("items")), depth + 1);
      }
      return fields;
    }

    private String typeName(Map<?, ?> schema, int depth) {
      TreeSet<String> types = new TreeSet<>();
      if (schema.get("type") instanceof String one) {
        types.add(one);
      } else if (schema.get("type") instanceof List<?> several) {
        several.forEach(one -> types.add(String.valueOf(one)));
      }
      types.remove("null");
      if (types.remove("array")) {
        boolean isKnown = depth < MAX_DEPTH && schema.containsKey("items");
        types.add(
            isKnown
                ? "array<" + typeName(resolved(schema.get("items")), depth + 1) + ">"
                : "array");
      }
      return types.isEmpty() ? "any" : String.join("|", types);
    }

    /** What a reference, or a choice between null and one other, stands for. */
    private Map<?, ?> resolved(Object schema) {
      Object found = schema;
      for (int steps = 0; steps < MAX_DEPTH && found instanceof Map<?, ?> map; steps++) {
        Object choice = map.containsKey("oneOf") ? map.get("oneOf") : map.get("anyOf");
        if (map.get("$ref") instanceof String reference && reference.startsWith("#/")) {
          found = at(reference);
        } else if (choice instanceof List<?> several && !map.containsKey("type")) {
          List<?> others =
              several.stream()
                  .filter(one -> !(one instanceof Map<?, ?> m && "null".equals(m.get("type"))))
                  .toList();
          if (others.size() != 1) {
            return map;
          }
          found = others.get(0);
        } else {
          return map;
        }
      }
      return found instanceof Map<?, ?> map ? map : Map.of();
    }

    private Object at(String reference) {
      Object place = root;
      for (String step : reference.substring(2).split("/")) {
        place =
            place instanceof Map<?, ?> map
                ? map.get(step.replace("~1", "/").replace("~0", "~"))
                : null;
      }
      return place;
    }
  }
}
