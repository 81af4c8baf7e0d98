package headwater.openlineage;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The emissions of this process, one per URL and home: a Flink JobManager creates a transport for
 * every job.
 */
final class Emissions {
  private static final Map<List<String>, Emission> STARTED = new ConcurrentHashMap<>();

  private Emissions() {}

  /**
   * @throws IllegalArgumentException if a setting is invalid
   * @throws java.io.UncheckedIOException if the home cannot be written
   */
  static Emission shared(HeadwaterConfig config) {
    config.check();
    return STARTED.computeIfAbsent(
        List.of(config.getUrl(), config.folder().toString()),
        target -> {
          Emission emission = new Emission(config, System::getenv);
          atShutdown(emission::close);
          return emission;
        });
  }

  /**
   * Spark stops its context, and reports that, in one of Hadoop's shutdown hooks. Those run in
   * order of priority; this one has the lowest, so it runs last.
   */
  private static void atShutdown(Runnable last) {
    try {
      Class<?> hooks = Class.forName("org.apache.hadoop.util.ShutdownHookManager");
      Object hadoop = hooks.getMethod("get").invoke(null);
      hooks.getMethod("addShutdownHook", Runnable.class, int.class).invoke(hadoop, last, 0);
    } catch (ReflectiveOperationException withoutHadoop) {
      Runtime.getRuntime().addShutdownHook(new Thread(last, "headwater-lineage-end"));
    }
  }
}
