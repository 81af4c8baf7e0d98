package headwater.connect;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Reads the fields of a JSON Schema; references within the document are followed.
 *
 * <p>Source: JSON Schema 2020-12, validation vocabulary, `type`
 */
final class JsonSchema {
  private static final int MAX_DEPTH = 12;

  private final Object root;
  private final FieldBudget budget = new FieldBudget();

  JsonSchema(Object root) {
    this.root = root;
  }

  RegisteredSchemas.ParsedSchema read() {
    Map<?, ?> top = resolved(root);
    String name = top.get("title") instanceof String title ? title : null;
    List<FieldShape> fields = nested(top, 0);
    return new RegisteredSchemas.ParsedSchema(
        name, fields.isEmpty() ? List.of(field("value", root, 0)) : fields);
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
      for (Map.Entry<?, ?> each : budget.take(List.copyOf(properties.entrySet()))) {
        fields.add(field((String) each.getKey(), each.getValue(), depth + 1));
      }
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
          isKnown ? "array<" + typeName(resolved(schema.get("items")), depth + 1) + ">" : "array");
    }
    return types.isEmpty() ? "any" : String.join("|", types);
  }

  /** Resolves a reference, or a choice between null and one other schema. */
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
    Object target = root;
    for (String step : reference.substring(2).split("/")) {
      target =
          target instanceof Map<?, ?> map
              ? map.get(step.replace("~1", "/").replace("~0", "~"))
              : null;
    }
    return target;
  }
}
