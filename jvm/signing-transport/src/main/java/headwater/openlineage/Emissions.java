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

  static Emission shared(HeadwaterConfig config) {
    return STARTED.computeIfAbsent(
        List.of(config.getUrl(), config.folder().toString()),
        target -> {
          Emission emission = new Emission(config, System::getenv);
          Runtime.getRuntime()
              .addShutdownHook(new Thread(emission::close, "headwater-lineage-end"));
          return emission;
        });
  }
}
