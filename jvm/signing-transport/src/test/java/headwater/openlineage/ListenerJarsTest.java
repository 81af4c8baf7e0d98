package headwater.openlineage;

import static org.assertj.core.api.Assertions.assertThat;

import headwater.signing.ChainTest;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The listeners' jars find the transport by its type, and pass it its settings. */
@Timeout(60)
class ListenerJarsTest {
  @TempDir Path folder;

  static Stream<Path> jars() throws IOException {
    try (Stream<Path> found = Files.list(Path.of("target", "listeners"))) {
      return found
          .filter(file -> file.getFileName().toString().startsWith("openlineage-"))
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("jars")
  void anEventOfTheListenersClientArrivesSignedAndChained(Path jar) throws Exception {
    try (Service service = new Service();
        URLClassLoader listener = loader(jar)) {
      Path config = folder.resolve("openlineage.yml");
      Files.writeString(
          config,
          "transport:\n  type: headwater\n  url: %s\n  home: %s\n  drainTimeoutMs: 20000\n"
              .formatted(service.url(), Keys.home(folder)));

      Class<?> probe = listener.loadClass(Probe.class.getName());
      Thread.currentThread().setContextClassLoader(listener);
      ((Runnable) probe.getConstructor(Path.class).newInstance(config)).run();

      assertThat(service.events())
          .singleElement()
          .satisfies(
              event -> {
                assertThat(((Map<?, ?>) event.get("job")).get("name")).isEqualTo("probe");
                assertThat(ChainTest.facet(event).get("nodeId")).isEqualTo("edge-1");
              });
    } finally {
      Thread.currentThread().setContextClassLoader(getClass().getClassLoader());
    }
  }

  /** Loads the jar with only our classes from this process, so the client is the jar's. */
  private static URLClassLoader loader(Path jar) throws IOException {
    List<URL> urls = new java.util.ArrayList<>(List.of(jar.toUri().toURL()));
    urls.add(Probe.class.getProtectionDomain().getCodeSource().getLocation());
    urls.add(HeadwaterTransport.class.getProtectionDomain().getCodeSource().getLocation());
    urls.add(org.slf4j.Logger.class.getProtectionDomain().getCodeSource().getLocation());
    return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
  }
}
