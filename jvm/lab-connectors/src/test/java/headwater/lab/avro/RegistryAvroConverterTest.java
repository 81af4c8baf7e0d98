package headwater.lab.avro;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.storage.Converter;
import org.junit.jupiter.api.Test;

class RegistryAvroConverterTest {
  @Test
  void tasksWithANewSchemaRegisterItOneAfterTheOther() throws InterruptedException {
    Registry registry = new Registry();
    CyclicBarrier atOnce = new CyclicBarrier(3);
    Stream<Thread> tasks = Stream.generate(() -> new Thread(() -> convert(registry, atOnce)));

    for (Thread task : tasks.limit(3).peek(Thread::start).toList()) {
      task.join();
    }

    assertThat(registry.versions).hasValue(1);
  }

  private static void convert(Registry registry, CyclicBarrier atOnce) {
    try (Converter converter = new RegistryAvroConverter(registry)) {
      atOnce.await();
      converter.fromConnectData("orders", Schema.INT32_SCHEMA, 1);
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Looks up, then registers, as Apicurio does: a lookup in between registers it again. */
  private static final class Registry implements Converter {
    private final Set<Schema> known = ConcurrentHashMap.newKeySet();
    private final AtomicInteger versions = new AtomicInteger();

    @Override
    public void configure(Map<String, ?> configs, boolean isKey) {
      // There is nothing to configure.
    }

    @Override
    public byte[] fromConnectData(String topic, Schema schema, Object value) {
      if (!known.contains(schema)) {
        Thread.yield();
        versions.incrementAndGet();
        known.add(schema);
      }
      return new byte[0];
    }

    @Override
    public SchemaAndValue toConnectData(String topic, byte[] value) {
      return SchemaAndValue.NULL;
    }
  }
}
