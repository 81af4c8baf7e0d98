package headwater.connect;

import java.util.List;

/**
 * A field of a record, as in the facet `schema`: structs, and arrays and maps of structs, have
 * nested fields.
 */
record FieldShape(String name, String type, String description, List<FieldShape> fields) {
  /** Counts this field and all nested ones. */
  int size() {
    return 1 + sizeOf(fields);
  }

  static int sizeOf(List<FieldShape> fields) {
    return fields.stream().mapToInt(FieldShape::size).sum();
  }

  FieldShape(String name, String type) {
    this(name, type, null, List.of());
  }
}
