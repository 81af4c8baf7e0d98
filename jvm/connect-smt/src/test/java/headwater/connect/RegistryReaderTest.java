package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import headwater.connect.RegistryReader.Query;
import headwater.connect.RegistryReader.Result;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.config.types.Password;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Answers in the form of the Confluent Schema Registry API reference. */
class RegistryReaderTest {
  private static final String SCHEMA =
      "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"Order\\\",\\\"fields\\\":"
          + "[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"}]}";

  private HttpPeer registry;

  @BeforeEach
  void start() throws IOException {
    registry = new HttpPeer();
  }

  @AfterEach
  void stop() {
    registry.close();
  }

  @Test
  void theLatestVersionOfTheTopicsSubjectIsRead() throws Exception {
    registry.answer(
        "/subjects/shop%2Forders-value/versions/latest",
        200,
        "{\"subject\":\"shop/orders-value\",\"version\":3,\"id\":7,\"schema\":\"" + SCHEMA + "\"}");

    Result result = read(new Query("shop/orders", null));

    assertThat(result.version())
        .isEqualTo(new RegisteredVersion("shop/orders-value", 3, 7, "AVRO"));
    assertThat(result.fields()).containsExactly(new FieldShape("id", "int64"));
  }

  @Test
  void theIdAtTheStartOfAValueSelectsItsSchema() throws Exception {
    registry.answer("/schemas/ids/7", 200, "{\"schema\":\"" + SCHEMA + "\"}");
    registry.answer(
        "/schemas/ids/7/versions",
        200,
        "[{\"subject\":\"other-value\",\"version\":1},{\"subject\":\"orders-value\",\"version\":2}]");

    Result result = read(new Query("orders", 7));

    assertThat(result.version()).isEqualTo(new RegisteredVersion("orders-value", 2, 7, "AVRO"));
    assertThat(result.shapeWith(List.of()).name()).isEqualTo("Order");
  }

  @Test
  void credentialsAreSent() throws Exception {
    registry.answer(
        "/subjects/orders-value/versions/latest",
        200,
        "{\"version\":1,\"id\":1,\"schema\":\"" + SCHEMA + "\"}");

    read(new Query("orders", null));

    // `printf me:pass | base64`
    assertThat(registry.requests().get(0).authorization()).isEqualTo("Basic bWU6cGFzcw==");
  }

  @Test
  void everyCallbackGetsTheResultAndAnIdIsRequestedOnlyOnce() throws Exception {
    registry.answer("/schemas/ids/7", 200, "{\"schema\":\"" + SCHEMA + "\"}");
    registry.answer(
        "/schemas/ids/7/versions", 200, "[{\"subject\":\"orders-value\",\"version\":2}]");
    RegistryReader reader = new RegistryReader();

    List<CompletableFuture<Result>> results = new ArrayList<>();
    for (int caller = 0; caller < 3; caller++) {
      CompletableFuture<Result> result = new CompletableFuture<>();
      reader.read(settings(), new Query("orders", 7), result::complete);
      results.add(result);
    }
    for (CompletableFuture<Result> result : results) {
      assertThat(result.get(10, TimeUnit.SECONDS).version().version()).isEqualTo(2);
    }
    CompletableFuture<Result> later = new CompletableFuture<>();
    reader.read(settings(), new Query("orders", 7), later::complete);

    assertThat(later).isCompleted();
    assertThat(registry.requests()).hasSize(2);
  }

  private Settings.Registry settings() {
    return new Settings.Registry(URI.create(registry.url()), new Password("me:pass"));
  }

  private Result read(Query query) throws Exception {
    CompletableFuture<Result> result = new CompletableFuture<>();
    new RegistryReader().read(settings(), query, result::complete);
    return result.get(10, TimeUnit.SECONDS);
  }
}
