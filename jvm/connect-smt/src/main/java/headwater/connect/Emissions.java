package headwater.connect;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.kafka.common.utils.AppInfoParser;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The emissions of this JVM: one for each target, however many connectors and tasks tell it
 * something.
 */
final class Emissions {
  private static final Logger LOGGER = LoggerFactory.getLogger(Emissions.class);
  private static final int CAPACITY = 1_024;
  private static final Duration FOR_TASKS = Duration.ofSeconds(5);
  private static final Duration FOR_EVENTS = Duration.ofSeconds(3);

  private static final Map<Settings.Target, Emission> ALL = new HashMap<>();

  private Emissions() {}

  /** The emission to a target; the first call starts it. */
  static synchronized Emission to(Settings.Target target) {
    if (ALL.isEmpty()) {
      endWithTheJvm();
    }
    return ALL.computeIfAbsent(target, Emissions::started);
  }

  private static Emission started(Settings.Target target) {
    Transport transport =
        target instanceof Settings.Service service
            ? new ServiceTransport(service, System::getenv)
            : new TopicTransport((Settings.Topic) target);
    Outbox outbox = new Outbox(CAPACITY);
    show(target, outbox);
    Emission emission =
        new Emission(
            target.shown(), transport, new RegistryReader(), AppInfoParser.getVersion(), outbox);
    emission.start();
    LOGGER.info("lineage events go to {}", target.shown());
    return emission;
  }

  private static void show(Settings.Target target, Outbox outbox) {
    try {
      ObjectName name =
          new ObjectName(
              "headwater.connect:type=Emission,target=" + ObjectName.quote(target.shown()));
      ManagementFactory.getPlatformMBeanServer().registerMBean(outbox, name);
    } catch (JMException taken) {
      LOGGER.info(
          "JMX does not show the lineage events to {}: {}", target.shown(), taken.toString());
    }
  }

  private static void endWithTheJvm() {
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(Emissions::drain, "headwater-lineage-end"));
    } catch (IllegalStateException ending) {
      LOGGER.info("the worker is ending already");
    }
  }

  private static void drain() {
    List<Emission> all;
    synchronized (Emissions.class) {
      all = new ArrayList<>(ALL.values());
    }
    try {
      for (Emission emission : all) {
        emission.drain(FOR_TASKS, FOR_EVENTS);
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
