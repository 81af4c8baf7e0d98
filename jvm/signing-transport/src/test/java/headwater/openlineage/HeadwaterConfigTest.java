package headwater.openlineage;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HeadwaterConfigTest {
  private static final Map<String, String> ANN = Map.of("HOME", "/home/ann", "HEADWATER_HOME", "");

  @Test
  void theFolderIsThatOfTheCommand() {
    HeadwaterConfig config = new HeadwaterConfig();

    assertThat(config.folder(ANN)).isEqualTo(Path.of("/home/ann/.headwater"));
    assertThat(config.folder(Map.of("HEADWATER_HOME", "/srv/lineage", "HOME", "/home/ann")))
        .isEqualTo(Path.of("/srv/lineage"));
    assertThat(config.folder(Map.of("HEADWATER_HOME", "~/lineage", "HOME", "/home/ann")))
        .isEqualTo(Path.of("/home/ann/lineage"));
    assertThat(config.folder(Map.of()))
        .isEqualTo(Path.of(System.getProperty("user.home"), ".headwater"));
  }

  @Test
  void aConfiguredHomeTakesPrecedence() {
    HeadwaterConfig config = new HeadwaterConfig();

    config.setHome("~/edge");
    Path below = config.folder(ANN);
    config.setHome("~");
    Path itself = config.folder(ANN);
    config.setHome("");
    Path empty = config.folder(ANN);

    assertThat(below).isEqualTo(Path.of("/home/ann/edge"));
    assertThat(itself).isEqualTo(Path.of("/home/ann"));
    assertThat(empty).isEqualTo(Path.of("/home/ann/.headwater"));
  }
}
