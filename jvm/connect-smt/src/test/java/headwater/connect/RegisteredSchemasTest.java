package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RegisteredSchemasTest {
  @Test
  void avroTypesAreThoseOfItsConverter() {
    RegisteredSchemas.ParsedSchema read =
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
  void avroNamesResolveInTheirNamespaces() {
    RegisteredSchemas.ParsedSchema read =
        RegisteredSchemas.read(
            "AVRO",
            """
            {"type":"record","name":"Order","namespace":"shop","fields":[
             {"name":"bill","type":{"type":"record","name":"Address","fields":[
               {"name":"street","type":"string"}]}},
             {"name":"ship","type":{"type":"record","name":"Address","namespace":"post","fields":[
               {"name":"box","type":"long"}]}},
             {"name":"bill_again","type":"Address"},
             {"name":"ship_again","type":["null","post.Address"]},
             {"name":"nobody","type":"far.Address"}]}
            """);

    List<FieldShape> street = List.of(new FieldShape("street", "string"));
    List<FieldShape> box = List.of(new FieldShape("box", "int64"));
    assertThat(read.fields())
        .containsExactly(
            new FieldShape("bill", "struct", null, street),
            new FieldShape("ship", "struct", null, box),
            new FieldShape("bill_again", "struct", null, street),
            new FieldShape("ship_again", "struct", null, box),
            new FieldShape("nobody", "far.Address"));
  }

  @Test
  void aRecursiveAvroSchemaIsCutOff() {
    RegisteredSchemas.ParsedSchema read =
        RegisteredSchemas.read(
            "AVRO",
            """
            {"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"]}]}
            """);

    assertThat(read.fields()).extracting(FieldShape::type).containsExactly("struct");
  }

  @Test
  void jsonSchemaFollowsReferencesAndChoicesWithNull() {
    RegisteredSchemas.ParsedSchema read =
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
  void protobufHasTheFieldsOfTheFirstMessage() {
    RegisteredSchemas.ParsedSchema read =
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
  void stringsAndOptionsOfProtobufHideNoField() {
    String text = "x".repeat(100_000);
    RegisteredSchemas.ParsedSchema read =
        RegisteredSchemas.read(
            "PROTOBUF",
            """
            syntax = 'proto3';
            option go_package = "https://example.org/shop";
            message Order {
              string id = 1 [(pattern) = "^/*[a-z]//"];
              string site = 2 [(rules).string = { prefix: "http://" in: ["a", "b"] }, (x) = 1];
              string note = 3 [(doc) = "%s"]; // "
              int32 count = 4;
            }
            """
                .formatted(text));

    assertThat(read.fields())
        .extracting(FieldShape::name)
        .containsExactly("id", "site", "note", "count");
  }

  @Test
  void protobufTypesAreResolvedFromTheirScope() {
    RegisteredSchemas.ParsedSchema read =
        RegisteredSchemas.read(
            "PROTOBUF",
            """
            package shop.v1;
            message Order {
              message Item { string sku = 1; }
              repeated Item items = 1;
              Return.Item back = 2;
              .shop.v1.Item other = 3;
              shop.v1.State state = 4;
              far.Item unknown = 5;
            }
            message Return {
              message Item { int64 reason = 1; }
              enum State { A = 0; }
            }
            message Item { bool isOther = 1; }
            enum State { B = 0; }
            """);

    assertThat(read.fields())
        .containsExactly(
            new FieldShape(
                "items", "array<struct>", null, List.of(new FieldShape("sku", "string"))),
            new FieldShape("back", "struct", null, List.of(new FieldShape("reason", "int64"))),
            new FieldShape("other", "struct", null, List.of(new FieldShape("isOther", "boolean"))),
            new FieldShape("state", "string"),
            new FieldShape("unknown", "struct"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "AVRO|{'type':'record','name':'N','fields':[{'name':'a','type':['null','N']},"
            + "{'name':'b','type':['null','N']},{'name':'c','type':['null','N']},"
            + "{'name':'d','type':['null','N']},{'name':'last','type':'int'}]}",
        "JSON|{'$ref':'#/definitions/N','definitions':{'N':{'type':'object','properties':{"
            + "'a':{'$ref':'#/definitions/N'},'b':{'$ref':'#/definitions/N'},"
            + "'c':{'$ref':'#/definitions/N'},'d':{'$ref':'#/definitions/N'},"
            + "'last':{'type':'integer'}}}}}",
        "PROTOBUF|message N { N a = 1; N b = 2; N c = 3; N d = 4; int32 last = 5; }"
      },
      quoteCharacter = '`')
  void aRecursiveSchemaIsLimitedAndKeepsItsTopLevelFields(String type, String text) {
    RegisteredSchemas.ParsedSchema read = RegisteredSchemas.read(type, text.replace('\'', '"'));

    assertThat(read.fields())
        .extracting(FieldShape::name)
        .containsExactly("a", "b", "c", "d", "last");
    assertThat(FieldShape.sizeOf(read.fields())).isLessThanOrEqualTo(2_000);
  }

  @Test
  void anUnknownTypeHasNoFieldsAndAMalformedSchemaThrows() {
    assertThat(RegisteredSchemas.read("XML", "<a/>").fields()).isEmpty();
    assertThatThrownBy(() -> RegisteredSchemas.read("AVRO", "{"))
        .isInstanceOf(RuntimeException.class);
    assertThatThrownBy(() -> RegisteredSchemas.read("PROTOBUF", "syntax = \"proto3\";"))
        .isInstanceOf(RuntimeException.class);
  }
}
