package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import headwater.connect.RegistryReader.Answer;
import headwater.connect.RegistryReader.Question;
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

    Answer answer = asked(new Question("shop/orders", null));

    assertThat(answer.version())
        .isEqualTo(new RegisteredVersion("shop/orders-value", 3, 7, "AVRO"));
    assertThat(answer.fields()).containsExactly(new FieldShape("id", "int64"));
  }

  @Test
  void anIdInFrontOfTheValueSaysWhichSchemaItIs() throws Exception {
    registry.answer("/schemas/ids/7", 200, "{\"schema\":\"" + SCHEMA + "\"}");
    registry.answer(
        "/schemas/ids/7/versions",
        200,
        "[{\"subject\":\"other-value\",\"version\":1},{\"subject\":\"orders-value\",\"version\":2}]");

    Answer answer = asked(new Question("orders", 7));

    assertThat(answer.version()).isEqualTo(new RegisteredVersion("orders-value", 2, 7, "AVRO"));
    assertThat(answer.shapeWith(List.of()).name()).isEqualTo("Order");
  }

  @Test
  void credentialsAreSent() throws Exception {
    registry.answer(
        "/subjects/orders-value/versions/latest",
        200,
        "{\"version\":1,\"id\":1,\"schema\":\"" + SCHEMA + "\"}");

    asked(new Question("orders", null));

    // `printf me:pass | base64`
    assertThat(registry.requests().get(0).authorization()).isEqualTo("Basic bWU6cGFzcw==");
  }

  @Test
  void whoeverAsksIsAnsweredAndAnIdIsAskedOnlyOnce() throws Exception {
    registry.answer("/schemas/ids/7", 200, "{\"schema\":\"" + SCHEMA + "\"}");
    registry.answer(
        "/schemas/ids/7/versions", 200, "[{\"subject\":\"orders-value\",\"version\":2}]");
    RegistryReader reader = new RegistryReader();

    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (int asker = 0; asker < 3; asker++) {
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      reader.ask(settings(), new Question("orders", 7), answer::complete);
      answers.add(answer);
    }
    for (CompletableFuture<Answer> answer : answers) {
      assertThat(answer.get(10, TimeUnit.SECONDS).version().version()).isEqualTo(2);
    }
    CompletableFuture<Answer> later = new CompletableFuture<>();
    reader.ask(settings(), new Question("orders", 7), later::complete);

    assertThat(later).isCompleted();
    assertThat(registry.requests()).hasSize(2);
  }

  private Settings.Registry settings() {
    return new Settings.Registry(URI.create(registry.url()), new Password("me:pass"));
  }

  private Answer asked(Question question) throws Exception {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    new RegistryReader().ask(settings(), question, answer::complete);
    return answer.get(10, TimeUnit.SECONDS);
  }
}
