package headwater.connect;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The fields of records without a schema: the union of those seen, with their JSON types.
 * Thread-safe.
 *
 * <p>An object with more names than a schema would have is treated as data (a map from customer to
 * balance): its names are discarded and its type is a plain `object`.
 */
final class FieldSample {
  private static final int MAX_NAMES = 200;
  private static final int MAX_DEPTH = 8;
  private static final int MAX_ITEMS = 10;

  private final Node root = new Node();

  /** Adds the fields of a record's value. */
  synchronized void add(Map<?, ?> value) {
    root.add(value, 0);
  }

  /** The fields seen so far, sorted by name. */
  synchronized List<FieldShape> fields() {
    return root.fields();
  }

  private static final class Node {
    private final Set<String> types = new TreeSet<>();
    private final Map<String, Node> members = new TreeMap<>();
    private Node items;
    private boolean isData;

    void add(Object value, int depth) {
      if (value instanceof Map<?, ?> map) {
        types.add("object");
        addMembers(map, depth);
      } else if (value instanceof Collection<?> list) {
        types.add("array");
        addItems(list, depth);
      } else if (value != null) {
        types.add(typeOf(value));
      }
    }

    private void addMembers(Map<?, ?> map, int depth) {
      if (isData || depth >= MAX_DEPTH) {
        return;
      }
      for (Map.Entry<?, ?> member : map.entrySet()) {
        members
            .computeIfAbsent(String.valueOf(member.getKey()), name -> new Node())
            .add(member.getValue(), depth + 1);
        if (members.size() > MAX_NAMES) {
          isData = true;
          members.clear();
          return;
        }
      }
    }

    private void addItems(Collection<?> list, int depth) {
      if (depth >= MAX_DEPTH) {
        return;
      }
      if (items == null) {
        items = new Node();
      }
      int left = MAX_ITEMS;
      for (Object item : list) {
        if (left-- == 0) {
          break;
        }
        items.add(item, depth + 1);
      }
    }

    List<FieldShape> fields() {
      List<FieldShape> fields = new ArrayList<>();
      members.forEach(
          (name, node) -> fields.add(new FieldShape(name, node.type(), null, node.nested())));
      return fields;
    }

    private List<FieldShape> nested() {
      return items != null && members.isEmpty() ? items.nested() : fields();
    }

    /**
     * Several types are reported as `integer|string`; a field that was always null has the type
     * `null`.
     */
    private String type() {
      Set<String> distinct = new TreeSet<>(types);
      if (distinct.contains("number")) {
        distinct.remove("integer");
      }
      if (distinct.remove("array")) {
        distinct.add(
            items == null || items.types.isEmpty() ? "array" : "array<" + items.type() + ">");
      }
      return distinct.isEmpty() ? "null" : String.join("|", distinct);
    }

    private static String typeOf(Object value) {
      if (value instanceof Boolean) {
        return "boolean";
      }
      if (value instanceof Double
          || value instanceof Float
          || value instanceof java.math.BigDecimal) {
        return "number";
      }
      return value instanceof Number ? "integer" : "string";
    }
  }
}
