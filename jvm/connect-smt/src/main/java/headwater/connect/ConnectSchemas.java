package headwater.connect;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;

/**
 * Reads shapes from Connect's schemas, which every converter creates: Avro, JSON Schema, Protobuf,
 * JSON.
 */
final class ConnectSchemas {
  /** Schemas may be recursive; deeper columns are not needed. */
  private static final int MAX_DEPTH = 12;

  /** Type names reported for logical types: Connect's own, and Debezium's. */
  private static final Map<String, String> LOGICAL =
      Map.ofEntries(
          Map.entry("org.apache.kafka.connect.data.Date", "date"),
          Map.entry("org.apache.kafka.connect.data.Time", "time"),
          Map.entry("org.apache.kafka.connect.data.Timestamp", "timestamp"),
          Map.entry("io.debezium.time.Date", "date"),
          Map.entry("io.debezium.time.Time", "time"),
          Map.entry("io.debezium.time.MicroTime", "time"),
          Map.entry("io.debezium.time.NanoTime", "time"),
          Map.entry("io.debezium.time.ZonedTime", "time with time zone"),
          Map.entry("io.debezium.time.Timestamp", "timestamp"),
          Map.entry("io.debezium.time.MicroTimestamp", "timestamp"),
          Map.entry("io.debezium.time.NanoTimestamp", "timestamp"),
          Map.entry("io.debezium.time.ZonedTimestamp", "timestamp with time zone"),
          Map.entry("io.debezium.time.Year", "year"),
          Map.entry("io.debezium.time.Interval", "interval"),
          Map.entry("io.debezium.time.MicroDuration", "interval"),
          Map.entry("io.debezium.data.Json", "json"),
          Map.entry("io.debezium.data.Xml", "xml"),
          Map.entry("io.debezium.data.Uuid", "uuid"),
          Map.entry("io.debezium.data.Enum", "enum"),
          Map.entry("io.debezium.data.VariableScaleDecimal", "decimal"));

  private final FieldBudget budget = new FieldBudget();

  private ConnectSchemas() {}

  /**
   * The shape of records with these schemas; null for no schema. Plain bytes have an unknown shape.
   */
  static Shape shapeOf(Schema key, Schema value) {
    List<FieldShape> keyFields =
        key == null ? List.of() : new ConnectSchemas().topFields("key", key);
    if (value == null || (value.type() == Schema.Type.BYTES && value.name() == null)) {
      return new Shape(Shape.Origin.UNKNOWN, null, null, List.of(), keyFields, null);
    }
    List<FieldShape> fields = new ConnectSchemas().topFields("value", value);
    return new Shape(Shape.Origin.CONNECT, value.name(), value.version(), fields, keyFields, null);
  }

  private List<FieldShape> topFields(String defaultName, Schema schema) {
    return schema.type() == Schema.Type.STRUCT
        ? fieldsOf(schema, 0)
        : List.of(field(defaultName, schema, 0));
  }

  private List<FieldShape> fieldsOf(Schema struct, int depth) {
    List<FieldShape> fields = new ArrayList<>();
    for (Field field : budget.take(struct.fields())) {
      fields.add(field(field.name(), field.schema(), depth + 1));
    }
    return fields;
  }

  private FieldShape field(String name, Schema schema, int depth) {
    return new FieldShape(name, typeName(schema, depth), schema.doc(), nested(schema, depth));
  }

  /** The fields of a field's struct, also if it is the element of an array or map. */
  private List<FieldShape> nested(Schema schema, int depth) {
    if (depth >= MAX_DEPTH || LOGICAL.containsKey(String.valueOf(schema.name()))) {
      return List.of();
    }
    return switch (schema.type()) {
      case STRUCT -> fieldsOf(schema, depth);
      case ARRAY, MAP -> nested(schema.valueSchema(), depth + 1);
      default -> List.of();
    };
  }

  private static String typeName(Schema schema, int depth) {
    String name = schema.name();
    if (name != null && LOGICAL.containsKey(name)) {
      return LOGICAL.get(name);
    }
    if (Decimal.LOGICAL_NAME.equals(name)) {
      return decimal(schema.parameters());
    }
    if (depth >= MAX_DEPTH) {
      return lowerCase(schema);
    }
    return switch (schema.type()) {
      case ARRAY -> "array<" + typeName(schema.valueSchema(), depth + 1) + ">";
      case MAP ->
          "map<"
              + typeName(schema.keySchema(), depth + 1)
              + ","
              + typeName(schema.valueSchema(), depth + 1)
              + ">";
      default -> lowerCase(schema);
    };
  }

  /**
   * Connect's decimals have a scale; the precision is known only if the Avro converter or a JDBC
   * source recorded it.
   */
  private static String decimal(Map<String, String> parameters) {
    String scale = parameters == null ? null : parameters.get(Decimal.SCALE_FIELD);
    String precision = parameters == null ? null : parameters.get("connect.decimal.precision");
    if (scale == null) {
      return "decimal";
    }
    return precision == null
        ? "decimal(scale " + scale + ")"
        : "decimal(" + precision + "," + scale + ")";
  }

  private static String lowerCase(Schema schema) {
    return schema.type().getName();
  }
}
