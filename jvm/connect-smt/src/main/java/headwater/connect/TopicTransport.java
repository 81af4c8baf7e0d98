package headwater.connect;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes events to a topic, keyed by the connector, so that each connector's events keep their
 * order.
 */
final class TopicTransport implements Transport {
  private static final Logger LOGGER = LoggerFactory.getLogger(TopicTransport.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final Settings.Topic topic;
  private Producer<byte[], byte[]> producer;

  TopicTransport(Settings.Topic topic) {
    this.topic = topic;
  }

  @Override
  public Delivery send(String connector, byte[] event) throws InterruptedException {
    try {
      byte[] key = connector.getBytes(StandardCharsets.UTF_8);
      openProducer()
          .send(new ProducerRecord<>(topic.name(), key, event))
          .get(TIMEOUT.toMillis() * 2, TimeUnit.MILLISECONDS);
      return Delivery.DONE;
    } catch (ExecutionException failure) {
      return delivery(failure.getCause());
    } catch (TimeoutException | KafkaException failure) {
      return delivery(failure);
    }
  }

  private Delivery delivery(Throwable failure) {
    String why = failure.getClass().getSimpleName();
    if (failure instanceof RecordTooLargeException) {
      return new Delivery(Outcome.REFUSED, why);
    }
    close(); // a producer cannot recover from every failure; a new one is opened next time
    return new Delivery(Outcome.UNAVAILABLE, why);
  }

  private Producer<byte[], byte[]> openProducer() throws InterruptedException {
    if (producer == null) {
      Map<String, Object> settings = new HashMap<>();
      settings.put("client.id", "headwater-lineage");
      settings.put("acks", "all");
      settings.put("linger.ms", "0");
      settings.put("buffer.memory", "8388608");
      settings.put("compression.type", "gzip");
      settings.put("max.block.ms", String.valueOf(TIMEOUT.toMillis()));
      settings.put("request.timeout.ms", String.valueOf(TIMEOUT.toMillis() / 2));
      settings.put("delivery.timeout.ms", String.valueOf(TIMEOUT.toMillis()));
      settings.putAll(topic.producer());
      createTopic();
      producer =
          new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }
    return producer;
  }

  /** Creates the topic with one partition, if it is missing and we have the permission. */
  private void createTopic() throws InterruptedException {
    Map<String, Object> settings = new HashMap<>(topic.producer());
    settings.put("client.id", "headwater-lineage");
    settings.put("default.api.timeout.ms", String.valueOf(TIMEOUT.toMillis()));
    settings.put("request.timeout.ms", String.valueOf(TIMEOUT.toMillis() / 2));
    try (Admin admin = Admin.create(settings)) {
      NewTopic wanted = new NewTopic(topic.name(), Optional.of(1), Optional.empty());
      admin.createTopics(List.of(wanted)).all().get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException failure) {
      if (!(failure.getCause() instanceof TopicExistsException)) {
        LOGGER.info(
            "cannot create topic {}: {}",
            topic.name(),
            failure.getCause().getClass().getSimpleName());
      }
    } catch (TimeoutException failure) {
      LOGGER.info("cannot create topic {}: timeout", topic.name());
    }
  }

  @Override
  public void close() {
    if (producer != null) {
      producer.close(Duration.ZERO);
      producer = null;
    }
  }
}
