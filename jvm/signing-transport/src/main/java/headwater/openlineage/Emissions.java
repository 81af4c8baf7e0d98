package headwater.openlineage;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The emissions of this process, one for each target and home: a Flink JobManager makes a transport
 * for every job.
 */
final class Emissions {
  private static final Map<List<String>, Emission> STARTED = new ConcurrentHashMap<>();

  private Emissions() {}

  /**
   * @throws IllegalArgumentException a setting makes no sense
   * @throws java.io.UncheckedIOException the home cannot be written
   */
  static Emission shared(HeadwaterConfig config) {
    config.check();
    return STARTED.computeIfAbsent(
        List.of(config.getUrl(), config.folder().toString()),
        target -> {
          Emission emission = new Emission(config, System::getenv);
          atTheEnd(emission::close);
          return emission;
        });
  }

  /**
   * Spark ends its context, and tells of that, in one of Hadoop's shutdown hooks, which run in an
   * order of their own: this one comes after all of them.
   */
  private static void atTheEnd(Runnable last) {
    try {
      Class<?> hooks = Class.forName("org.apache.hadoop.util.ShutdownHookManager");
      Object hadoop = hooks.getMethod("get").invoke(null);
      hooks.getMethod("addShutdownHook", Runnable.class, int.class).invoke(hadoop, last, 0);
    } catch (ReflectiveOperationException withoutHadoop) {
      Runtime.getRuntime().addShutdownHook(new Thread(last, "headwater-lineage-end"));
    }
  }
}
