package headwater.connect;

import java.util.List;

/**
 * The schema of a topic's records, as it is reported.
 *
 * @param origin where it comes from
 * @param name of the value's schema; null if it has none
 * @param version of the value's schema; null if it has none
 * @param fields of the value; a single field `value` if it has no fields
 * @param keyFields of the key; empty if the key has no schema
 * @param registered null if it does not come from a registry
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
    /** Fields seen in a sample of records without a schema; may be incomplete. */
    SAMPLE,
    /** Unknown: the values are bytes or plain text. */
    UNKNOWN
  }

  static final Shape OPAQUE = new Shape(Origin.UNKNOWN, null, null, List.of(), List.of(), null);

  Shape {
    fields = List.copyOf(fields);
    keyFields = List.copyOf(keyFields);
  }
}
