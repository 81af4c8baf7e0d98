package headwater.lab.avro;

import io.apicurio.registry.utils.converter.AvroConverter;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.storage.Converter;

/**
 * Apicurio's Avro converter, for connectors of more than one task.
 *
 * <p>If several tasks register the same new schema at once, Apicurio 3.0.9 creates a version for
 * each of them, or fails all but one. So the tasks of a worker register new schemas one after the
 * other: the second finds it registered.
 */
public final class RegistryAvroConverter implements Converter {
  private static final Object LOCK = new Object();

  private final Converter converter;
  private final Set<Map.Entry<String, Schema>> registered = new HashSet<>();

  public RegistryAvroConverter() {
    this(new AvroConverter<>());
  }

  RegistryAvroConverter(Converter converter) {
    this.converter = converter;
  }

  @Override
  public void configure(Map<String, ?> configs, boolean isKey) {
    converter.configure(configs, isKey);
  }

  @Override
  public byte[] fromConnectData(String topic, Schema schema, Object value) {
    return locked(topic, schema, () -> converter.fromConnectData(topic, schema, value));
  }

  @Override
  public byte[] fromConnectData(String topic, Headers headers, Schema schema, Object value) {
    return locked(topic, schema, () -> converter.fromConnectData(topic, headers, schema, value));
  }

  @Override
  public SchemaAndValue toConnectData(String topic, byte[] value) {
    return converter.toConnectData(topic, value);
  }

  @Override
  public SchemaAndValue toConnectData(String topic, Headers headers, byte[] value) {
    return converter.toConnectData(topic, headers, value);
  }

  @Override
  public void close() throws IOException {
    converter.close();
  }

  private byte[] locked(String topic, Schema schema, Supplier<byte[]> conversion) {
    if (schema == null || registered.contains(Map.entry(topic, schema))) {
      return conversion.get();
    }
    synchronized (LOCK) {
      byte[] converted = conversion.get();
      registered.add(Map.entry(topic, schema));
      return converted;
    }
  }
}
