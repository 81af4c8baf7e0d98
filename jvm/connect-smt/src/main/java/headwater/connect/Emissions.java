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

/** The emissions of this JVM: one per target, shared by all connectors and tasks. */
final class Emissions {
  private static final Logger LOGGER = LoggerFactory.getLogger(Emissions.class);
  private static final int CAPACITY = 1_024;
  private static final Duration TASKS_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration EVENTS_TIMEOUT = Duration.ofSeconds(3);

  private static final Map<Settings.Target, Emission> ALL = new HashMap<>();

  private Emissions() {}

  /** The emission to a target; the first call starts it. */
  static synchronized Emission to(Settings.Target target) {
    if (ALL.isEmpty()) {
      drainAtShutdown();
    }
    return ALL.computeIfAbsent(target, Emissions::start);
  }

  private static Emission start(Settings.Target target) {
    Transport transport =
        target instanceof Settings.Service service
            ? new ServiceTransport(service, System::getenv)
            : new TopicTransport((Settings.Topic) target);
    Outbox outbox = new Outbox(CAPACITY);
    registerInJmx(target, outbox);
    Emission emission =
        new Emission(
            target.displayName(),
            transport,
            new RegistryReader(),
            AppInfoParser.getVersion(),
            outbox);
    emission.start();
    LOGGER.info("sending lineage events to {}", target.displayName());
    return emission;
  }

  private static void registerInJmx(Settings.Target target, Outbox outbox) {
    try {
      ObjectName name =
          new ObjectName(
              "headwater.connect:type=Emission,target=" + ObjectName.quote(target.displayName()));
      ManagementFactory.getPlatformMBeanServer().registerMBean(outbox, name);
    } catch (JMException failure) {
      LOGGER.info(
          "cannot register the JMX counters of lineage events to {}: {}",
          target.displayName(),
          failure.toString());
    }
  }

  private static void drainAtShutdown() {
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(Emissions::drain, "headwater-lineage-end"));
    } catch (IllegalStateException ending) {
      LOGGER.info(
          "cannot add a shutdown hook for lineage events: the worker is already shutting down");
    }
  }

  private static void drain() {
    List<Emission> all;
    synchronized (Emissions.class) {
      all = new ArrayList<>(ALL.values());
    }
    try {
      for (Emission emission : all) {
        emission.drain(TASKS_TIMEOUT, EVENTS_TIMEOUT);
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
