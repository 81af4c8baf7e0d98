package headwater.connect;

import java.util.List;

/**
 * What the records of a topic look like. Two records of one shape say nothing new.
 *
 * @param origin how it is known
 * @param name of the value's schema; null where it has none
 * @param version of the value's schema; null where it has none
 * @param fields of the value; a single field `value` for a value without fields
 * @param keyFields of the key; none where the key has no schema
 * @param registered null where no registry told
 */
record Shape(
    Origin origin,
    String name,
    Integer version,
    List<FieldShape> fields,
    List<FieldShape> keyFields,
    RegisteredVersion registered) {
  /** Where a shape comes from. */
  enum Origin {
    /** The schema that the records carry. */
    CONNECT,
    /** The schema registry. */
    REGISTRY,
    /** Fields that were seen in records without a schema: what was not seen is not known. */
    SAMPLE,
    /** Nowhere: the values are bytes or plain text. */
    UNKNOWN
  }

  static final Shape OPAQUE = new Shape(Origin.UNKNOWN, null, null, List.of(), List.of(), null);

  Shape {
    fields = List.copyOf(fields);
    keyFields = List.copyOf(keyFields);
  }
}
