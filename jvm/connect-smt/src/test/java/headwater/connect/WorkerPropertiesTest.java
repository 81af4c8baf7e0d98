package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkerPropertiesTest {
  @TempDir Path folder;

  @Test
  void theFileOnTheCommandLineIsReadWithoutProviderValues() throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("worker.properties"),
            """
        bootstrap.servers=b:9092
        sasl.jaas.config=${file:/secrets:jaas}
        """);

    Map<String, String> found =
        WorkerProperties.read("org.apache.kafka.connect.cli.ConnectDistributed " + file);

    assertThat(found).isEqualTo(Map.of("bootstrap.servers", "b:9092"));
  }

  @Test
  void anotherProgramAMissingFileAndNoCommandGiveNoProperties() {
    assertThat(WorkerProperties.read("org.example.Main /etc/passwd")).isEmpty();
    assertThat(WorkerProperties.read("x.ConnectStandalone /missing.properties c.properties"))
        .isEmpty();
    assertThat(WorkerProperties.read("")).isEmpty();
  }
}
