package headwater.connect;

import java.util.List;

/**
 * A field of a record, as the facet `schema` tells it: structs, arrays and maps of structs have
 * fields inside.
 */
record FieldShape(String name, String type, String description, List<FieldShape> fields) {
  FieldShape(String name, String type) {
    this(name, type, null, List.of());
  }
}
