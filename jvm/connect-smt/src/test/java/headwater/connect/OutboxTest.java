package headwater.connect;

import static org.assertj.core.api.Assertions.assertThat;

import headwater.connect.Outbox.QueuedEvent;
import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

class OutboxTest {
  @Test
  void whenTheQueueIsFullTheOldestIsDroppedAndCounted() {
    Outbox outbox = new Outbox(2);
    QueuedEvent second = letter("b");

    outbox.put(letter("a"));
    outbox.put(second);
    outbox.put(letter("c"));

    assertThat(outbox.first()).isSameAs(second);
    assertThat(outbox.getlineage_events_waiting()).isEqualTo(2);
    assertThat(outbox.getlineage_events_dropped_total()).isEqualTo(1);
  }

  @Test
  void anEventInFlightIsNotDropped() {
    Outbox outbox = new Outbox(1);
    QueuedEvent inFlight = letter("a");
    outbox.put(inFlight);
    outbox.first();
    outbox.put(letter("b"));

    assertThat(outbox.first()).isSameAs(inFlight);
    assertThat(outbox.getlineage_events_waiting()).isEqualTo(2);
    outbox.sent();

    assertThat(outbox.getlineage_events_waiting()).isEqualTo(1);
  }

  @Test
  void jmxShowsTheCountersByTheirNames() throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = new ObjectName("headwater.test:type=Outbox");
    Outbox outbox = new Outbox(1);
    outbox.put(letter("a"));
    outbox.put(letter("b"));

    server.registerMBean(outbox, name);

    assertThat(server.getAttribute(name, "lineage_events_dropped_total")).isEqualTo(1L);
    assertThat(server.getAttribute(name, "lineage_events_waiting")).isEqualTo(1);
    server.unregisterMBean(name);
  }

  private static QueuedEvent letter(String event) {
    return new QueuedEvent("orders", event.getBytes(), null);
  }
}
