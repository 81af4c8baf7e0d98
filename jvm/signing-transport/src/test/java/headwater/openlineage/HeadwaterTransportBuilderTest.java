package headwater.openlineage;

import static org.assertj.core.api.Assertions.assertThat;

import io.openlineage.client.transports.NoopTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeadwaterTransportBuilderTest {
  @TempDir Path folder;

  @Test
  void aHomeThatCannotBeWrittenFailsNoDriver() throws IOException {
    HeadwaterConfig config = new HeadwaterConfig();
    config.setHome(Files.createFile(folder.resolve("a-file")).toString());

    assertThat(new HeadwaterTransportBuilder().build(config)).isInstanceOf(NoopTransport.class);
  }
}
