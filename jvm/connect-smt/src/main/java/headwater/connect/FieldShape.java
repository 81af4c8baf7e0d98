package headwater.connect;

import java.util.List;

/**
 * A field of a record, as the facet `schema` tells it: structs, arrays and maps of structs have
 * fields inside.
 */
record FieldShape(String name, String type, String description, List<FieldShape> fields) {
  /** How many fields it is, with those inside. */
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
