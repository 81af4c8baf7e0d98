package headwater.lab.auction;

import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;

/**
 * An auction's settings, from its connector's configuration.
 *
 * @param stream the number of the task, and of the stream whose orders it generates
 */
record AuctionSettings(
    String orders,
    String bids,
    long seed,
    int ordersPerSecond,
    long ordersPerTask,
    int schemaVersion,
    boolean shouldFail,
    int stream) {
  static final String TASK = "task.number";

  static final ConfigDef DEFINITION =
      new ConfigDef()
          .define("orders.topic", Type.STRING, "orders", Importance.HIGH, "The topic for orders.")
          .define("bids.topic", Type.STRING, "bids", Importance.HIGH, "The topic for bids.")
          .define("seed", Type.LONG, 0, Importance.MEDIUM, "Determines the generated orders.")
          .define(
              "orders.per.second",
              Type.INT,
              10,
              Range.between(1, 1000),
              Importance.MEDIUM,
              "How many orders each task generates per second.")
          .define(
              "orders.per.task",
              Type.LONG,
              Long.MAX_VALUE,
              Range.atLeast(0),
              Importance.MEDIUM,
              "How many orders each task generates in all; then it waits.")
          .define(
              "schema.version",
              Type.INT,
              1,
              Range.between(1, Layouts.NEWEST),
              Importance.MEDIUM,
              "The version of the orders' schema: 1, 2 or 3; 4 is incompatible with those.")
          .define(
              "fail.task",
              Type.INT,
              -1,
              Importance.LOW,
              "The number of a task that fails at once; -1 for none.")
          .define(TASK, Type.INT, 0, Importance.LOW, "Set by the connector.");

  static AuctionSettings read(Map<String, String> properties) {
    AbstractConfig config = new AbstractConfig(DEFINITION, properties, false);
    int task = config.getInt(TASK);
    return new AuctionSettings(
        config.getString("orders.topic"),
        config.getString("bids.topic"),
        config.getLong("seed"),
        config.getInt("orders.per.second"),
        config.getLong("orders.per.task"),
        config.getInt("schema.version"),
        config.getInt("fail.task") == task,
        task);
  }
}
