package headwater.connect;

import headwater.signing.NumberLiteral;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the fields of an Avro schema.
 *
 * <p>Source: Apache Avro 1.12, specification, "Schema declaration"
 */
final class AvroSchema {
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

  private final FieldBudget budget = new FieldBudget();

  /** Types by their full names. */
  private final Map<String, Map<?, ?>> named = new HashMap<>();

  /** Full names by type; a type without a namespace has that of the enclosing type. */
  private final Map<Map<?, ?>, String> fullNames = new IdentityHashMap<>();

  private String namespace = "";

  RegisteredSchemas.ParsedSchema read(Object schema) {
    Object top = resolved(schema);
    if (top instanceof Map<?, ?> record && "record".equals(record.get("type"))) {
      return new RegisteredSchemas.ParsedSchema((String) record.get("name"), fields(record, 0));
    }
    return new RegisteredSchemas.ParsedSchema(null, List.of(field("value", schema, null, 0)));
  }

  private List<FieldShape> fields(Map<?, ?> record, int depth) {
    String enclosing = namespace;
    namespace = namespaceOf(register(record));
    List<FieldShape> fields = new ArrayList<>();
    for (Object one : budget.take((List<?>) record.get("fields"))) {
      Map<?, ?> field = (Map<?, ?>) one;
      fields.add(
          field(
              (String) field.get("name"), field.get("type"), (String) field.get("doc"), depth + 1));
    }
    namespace = enclosing;
    return fields;
  }

  /** Registers a type under its full name, which it returns. */
  private String register(Map<?, ?> type) {
    String full =
        fullNames.computeIfAbsent(
            type,
            key -> {
              String name = String.valueOf(type.get("name"));
              return type.get("namespace") instanceof String own && name.indexOf('.') < 0
                  ? qualified(own, name)
                  : qualified(namespace, name);
            });
    named.putIfAbsent(full, type);
    return full;
  }

  private static String namespaceOf(String fullName) {
    return fullName.substring(0, Math.max(0, fullName.lastIndexOf('.')));
  }

  private static String qualified(String namespace, String name) {
    return namespace.isEmpty() || name.indexOf('.') >= 0 ? name : namespace + "." + name;
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
    if (complex.containsKey("name")) {
      register(complex);
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

  /** Resolves an optional union, a type name, or `{"type": {…}}`. */
  private Object resolved(Object schema) {
    if (schema instanceof List<?> union) {
      List<?> others = union.stream().filter(one -> !"null".equals(one)).toList();
      return others.size() == 1 ? resolved(others.get(0)) : others;
    }
    if (schema instanceof Map<?, ?> map && !(map.get("type") instanceof String)) {
      return resolved(map.get("type"));
    }
    if (schema instanceof String name) {
      // Some writers refer to a type without namespace from inside a namespace.
      Map<?, ?> known = named.getOrDefault(qualified(namespace, name), named.get(name));
      return known == null ? schema : known;
    }
    return schema;
  }

  private static String text(Object number, String defaultText) {
    return number instanceof NumberLiteral literal ? literal.text() : defaultText;
  }
}
