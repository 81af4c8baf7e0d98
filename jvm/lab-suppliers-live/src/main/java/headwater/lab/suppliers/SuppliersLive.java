package headwater.lab.suppliers;

import java.time.Duration;
import java.time.Instant;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.formats.avro.registry.confluent.ConfluentRegistryAvroDeserializationSchema;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.triggers.CountTrigger;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;
import org.apache.flink.util.ParameterTool;

/**
 * Each supplier's turnover per hour, before the batch has it: emits the hour's turnover so far with
 * each order.
 *
 * <p>Arguments: {@code --broker HOST:PORT --registry URL}. Avro's classes are those relocated in
 * Flink's SQL jar, the only ones in the cluster.
 */
public final class SuppliersLive {
  private static final String ORDERS = "orders";
  private static final String SUPPLIERS_LIVE = "suppliers_live";
  private static final Duration LATE = Duration.ofMinutes(1);

  /**
   * The reader's schema of an order. The writer's schema, in the registry, may have more fields.
   */
  private static final String ORDER =
      """
      {"type": "record", "name": "Order", "namespace": "headwater.lab", "fields": [
        {"name": "supplier", "type": "string"},
        {"name": "quantity", "type": "int"},
        {"name": "price", "type": "double"},
        {"name": "ordered_at", "type": {"type": "long", "logicalType": "timestamp-millis"}}]}
      """;

  private SuppliersLive() {}

  /** Runs until stopped. */
  public static void main(String[] arguments) throws Exception {
    ParameterTool options = ParameterTool.fromArgs(arguments);
    String broker = options.getRequired("broker");
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    environment
        .fromSource(orders(broker, options.getRequired("registry")), orderTime(), ORDERS)
        .keyBy(order -> order.get("supplier").toString())
        .window(TumblingEventTimeWindows.of(Duration.ofHours(1)))
        .trigger(CountTrigger.of(1))
        .aggregate(new Sum(), new ToTurnover())
        .sinkTo(suppliersLive(broker));
    environment.execute("suppliers-live");
  }

  private static KafkaSource<GenericRecord> orders(String broker, String registry) {
    Schema schema = new Schema.Parser().parse(ORDER);
    return KafkaSource.<GenericRecord>builder()
        .setBootstrapServers(broker)
        .setTopics(ORDERS)
        .setStartingOffsets(OffsetsInitializer.earliest())
        .setValueOnlyDeserializer(
            ConfluentRegistryAvroDeserializationSchema.forGeneric(schema, registry))
        .build();
  }

  private static WatermarkStrategy<GenericRecord> orderTime() {
    return WatermarkStrategy.<GenericRecord>forBoundedOutOfOrderness(LATE)
        .withTimestampAssigner((order, read) -> (Long) order.get("ordered_at"));
  }

  private static KafkaSink<Turnover> suppliersLive(String broker) {
    return KafkaSink.<Turnover>builder()
        .setBootstrapServers(broker)
        .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .setRecordSerializer(
            KafkaRecordSerializationSchema.builder()
                .setTopic(SUPPLIERS_LIVE)
                .setValueSerializationSchema(new TurnoverAsJson())
                .build())
        .build();
  }

  /** Sums price times quantity. */
  private static final class Sum implements AggregateFunction<GenericRecord, Double, Double> {
    @Override
    public Double createAccumulator() {
      return 0.0;
    }

    @Override
    public Double add(GenericRecord order, Double sum) {
      return sum + (Double) order.get("price") * (Integer) order.get("quantity");
    }

    @Override
    public Double getResult(Double sum) {
      return sum;
    }

    @Override
    public Double merge(Double one, Double other) {
      return one + other;
    }
  }

  /** Adds the supplier and the hour to a sum. */
  private static final class ToTurnover
      extends ProcessWindowFunction<Double, Turnover, String, TimeWindow> {
    @Override
    public void process(
        String supplier, Context context, Iterable<Double> sums, Collector<Turnover> out) {
      Instant begins = Instant.ofEpochMilli(context.window().getStart());
      for (Double sum : sums) {
        out.collect(new Turnover(supplier, begins.toString(), sum));
      }
    }
  }
}
