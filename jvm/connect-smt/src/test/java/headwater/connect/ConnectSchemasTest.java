package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.kafka.connect.data.Date;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Timestamp;
import org.junit.jupiter.api.Test;

class ConnectSchemasTest {
  @Test
  void fieldsKeepTheirOrderDocAndConnectTypes() {
    Schema order =
        SchemaBuilder.struct()
            .name("shop.Order")
            .version(3)
            .field("id", Schema.INT64_SCHEMA)
            .field("note", SchemaBuilder.string().optional().doc("what the customer said").build())
            .field("weight", Schema.OPTIONAL_FLOAT32_SCHEMA)
            .build();

    Shape shape = ConnectSchemas.shapeOf(null, order);

    assertThat(shape.name()).isEqualTo("shop.Order");
    assertThat(shape.version()).isEqualTo(3);
    assertThat(shape.fields())
        .containsExactly(
            new FieldShape("id", "int64"),
            new FieldShape("note", "string", "what the customer said", List.of()),
            new FieldShape("weight", "float32"));
  }

  @Test
  void logicalTypesAreNamedByTheirMeaning() {
    Schema schema =
        SchemaBuilder.struct()
            .field("price", Decimal.builder(2).parameter("connect.decimal.precision", "10").build())
            .field("rate", Decimal.schema(4))
            .field("day", Date.SCHEMA)
            .field("at", Timestamp.SCHEMA)
            .field("zoned", SchemaBuilder.string().name("io.debezium.time.ZonedTimestamp").build())
            .build();

    assertThat(ConnectSchemas.shapeOf(null, schema).fields())
        .extracting(FieldShape::type)
        .containsExactly(
            "decimal(10,2)", "decimal(scale 4)", "date", "timestamp", "timestamp with time zone");
  }

  @Test
  void structsInsideArraysAndMapsHaveTheirFields() {
    Schema line = SchemaBuilder.struct().field("sku", Schema.STRING_SCHEMA).build();
    Schema schema =
        SchemaBuilder.struct()
            .field("lines", SchemaBuilder.array(line).build())
            .field("byDay", SchemaBuilder.map(Schema.STRING_SCHEMA, line).build())
            .field("first", line)
            .field("tags", SchemaBuilder.array(Schema.STRING_SCHEMA).build())
            .build();
    List<FieldShape> sku = List.of(new FieldShape("sku", "string"));

    assertThat(ConnectSchemas.shapeOf(null, schema).fields())
        .containsExactly(
            new FieldShape("lines", "array<struct>", null, sku),
            new FieldShape("byDay", "map<string,struct>", null, sku),
            new FieldShape("first", "struct", null, sku),
            new FieldShape("tags", "array<string>"));
  }

  @Test
  void valuesAndKeysWithoutFieldsAreOneFieldOfTheirOwn() {
    Shape shape = ConnectSchemas.shapeOf(Schema.INT32_SCHEMA, Schema.STRING_SCHEMA);

    assertThat(shape.fields()).containsExactly(new FieldShape("value", "string"));
    assertThat(shape.keyFields()).containsExactly(new FieldShape("key", "int32"));
  }

  @Test
  void bytesAndNoSchemaHaveAnUnknownShape() {
    assertThat(ConnectSchemas.shapeOf(null, null)).isEqualTo(Shape.OPAQUE);
    assertThat(ConnectSchemas.shapeOf(null, Schema.BYTES_SCHEMA)).isEqualTo(Shape.OPAQUE);
  }

  @Test
  void aSchemaOfManyThousandFieldsIsCutOff() {
    SchemaBuilder wide = SchemaBuilder.struct();
    for (int number = 0; number < 5_000; number++) {
      wide.field("f" + number, Schema.STRING_SCHEMA);
    }

    assertThat(ConnectSchemas.shapeOf(null, wide.build()).fields()).hasSize(2_000);
  }
}
