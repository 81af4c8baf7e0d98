package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class RegisteredSchemasTest {
  @Test
  void avroGivesTheTypesThatItsConverterWouldGive() {
    RegisteredSchemas.Read read =
        RegisteredSchemas.read(
            "AVRO",
            """
            {"type":"record","name":"Order","namespace":"shop","fields":[
             {"name":"id","type":"long","doc":"number of the order"},
             {"name":"note","type":["null","string"],"default":null},
             {"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}},
             {"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
             {"name":"state","type":{"type":"enum","name":"State","symbols":["OPEN"]}},
             {"name":"lines","type":{"type":"array","items":
               {"type":"record","name":"Line","fields":[{"name":"sku","type":"string"}]}}},
             {"name":"first","type":["null","shop.Line"]},
             {"name":"either","type":["int","string"]}]}
            """);

    assertThat(read.name()).isEqualTo("Order");
    List<FieldShape> sku = List.of(new FieldShape("sku", "string"));
    assertThat(read.fields())
        .containsExactly(
            new FieldShape("id", "int64", "number of the order", List.of()),
            new FieldShape("note", "string"),
            new FieldShape("price", "decimal(10,2)"),
            new FieldShape("at", "timestamp"),
            new FieldShape("state", "string"),
            new FieldShape("lines", "array<struct>", null, sku),
            new FieldShape("first", "struct", null, sku),
            new FieldShape("either", "union"));
  }

  @Test
  void anAvroSchemaThatHoldsItselfComesToAnEnd() {
    RegisteredSchemas.Read read =
        RegisteredSchemas.read(
            "AVRO",
            """
            {"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]}]}
            """);

    assertThat(read.fields()).extracting(FieldShape::type).containsExactly("struct");
  }

  @Test
  void jsonSchemaFollowsReferencesAndChoicesWithNull() {
    RegisteredSchemas.Read read =
        RegisteredSchemas.read(
            "JSON",
            """
            {"title":"Order","type":"object","definitions":{"line":{"type":"object","properties":
              {"sku":{"type":"string"}}}},"properties":{
              "id":{"type":"integer","description":"number"},
              "note":{"oneOf":[{"type":"null"},{"type":"string"}]},
              "code":{"type":["string","null"]},
              "lines":{"type":"array","items":{"$ref":"#/definitions/line"}}}}
            """);

    assertThat(read.name()).isEqualTo("Order");
    assertThat(read.fields())
        .containsExactly(
            new FieldShape("id", "integer", "number", List.of()),
            new FieldShape("note", "string"),
            new FieldShape("code", "string"),
            new FieldShape(
                "lines", "array<object>", null, List.of(new FieldShape("sku", "string"))));
  }

  @Test
  void protobufGivesTheFieldsOfTheFirstMessage() {
    RegisteredSchemas.Read read =
        RegisteredSchemas.read(
            "PROTOBUF",
            """
            syntax = "proto3"; // first
            package shop;
            import "google/protobuf/timestamp.proto";
            message Order {
              option deprecated = true;
              int64 id = 1;
              repeated Line lines = 2 [(x) = "a;b{"];
              map<string, int32> counts = 3;
              google.protobuf.Timestamp at = 4;
              State state = 5;
              oneof pay { string card = 6; bool cash = 7; }
              enum State { OPEN = 0; }
              message Line { optional string sku = 1; }
              /* reserved 9; */
            }
            """);

    assertThat(read.name()).isEqualTo("Order");
    assertThat(read.fields())
        .containsExactly(
            new FieldShape("id", "int64"),
            new FieldShape(
                "lines", "array<struct>", null, List.of(new FieldShape("sku", "string"))),
            new FieldShape("counts", "map<string,int32>"),
            new FieldShape("at", "timestamp"),
            new FieldShape("state", "string"),
            new FieldShape("card", "string"),
            new FieldShape("cash", "boolean"));
  }

  @Test
  void anUnknownTypeHasNoFieldsAndABrokenTextIsAFault() {
    assertThat(RegisteredSchemas.read("XML", "<a/>").fields()).isEmpty();
    assertThatThrownBy(() -> RegisteredSchemas.read("AVRO", "{"))
        .isInstanceOf(RuntimeException.class);
    assertThatThrownBy(() -> RegisteredSchemas.read("PROTOBUF", "syntax = \"proto3\";"))
        .isInstanceOf(RuntimeException.class);
  }
}
