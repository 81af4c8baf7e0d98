package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FieldSampleTest {
  private final FieldSample sample = new FieldSample();

  @Test
  void theFieldsOfSeveralRecordsAreUnited() {
    sample.add(Map.of("id", 1L, "price", 2.5));
    sample.add(Map.of("id", 2L, "paid", true));

    assertThat(sample.fields())
        .containsExactly(
            new FieldShape("id", "integer"),
            new FieldShape("paid", "boolean"),
            new FieldShape("price", "number"));
  }

  @Test
  void differingTypesAreBothReportedAndIntegersAreNumbers() {
    sample.add(Map.of("code", 7L, "price", 2L));
    sample.add(Map.of("code", "7", "price", 2.5));

    assertThat(sample.fields())
        .containsExactly(
            new FieldShape("code", "integer|string"), new FieldShape("price", "number"));
  }

  @Test
  void nullShowsOnlyThatTheFieldExists() {
    Map<String, Object> withNull = new HashMap<>();
    withNull.put("note", null);

    sample.add(withNull);

    assertThat(sample.fields()).containsExactly(new FieldShape("note", "null"));
  }

  @Test
  void nestedObjectsAndObjectsInArraysHaveFields() {
    sample.add(
        Map.of(
            "buyer", Map.of("name", "x"),
            "lines", Arrays.asList(Map.of("sku", "a"), null, Map.of("count", 1L))));

    assertThat(sample.fields())
        .containsExactly(
            new FieldShape("buyer", "object", null, List.of(new FieldShape("name", "string"))),
            new FieldShape(
                "lines",
                "array<object>",
                null,
                List.of(new FieldShape("count", "integer"), new FieldShape("sku", "string"))));
  }

  @Test
  void anObjectWhoseNamesAreDataHasNoFields() {
    for (int customer = 0; customer < 300; customer++) {
      sample.add(Map.of("balances", Map.of("customer-" + customer, 1L)));
    }

    assertThat(sample.fields()).containsExactly(new FieldShape("balances", "object"));
  }

  @Test
  void aRecursiveObjectIsCutOff() {
    Map<String, Object> endless = new HashMap<>();
    endless.put("self", endless);

    sample.add(endless);

    assertThat(sample.fields()).hasSize(1);
  }
}
