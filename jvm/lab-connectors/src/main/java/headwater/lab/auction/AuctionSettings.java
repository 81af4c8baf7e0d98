package headwater.lab.auction;

import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;

/**
 * What an auction is told by its connector's configuration.
 *
 * @param stream the number of the task, which makes the orders of the stream of that number
 */
record AuctionSettings(
    String orders,
    String bids,
    long seed,
    int ordersPerSecond,
    long ordersPerTask,
    int schemaVersion,
    boolean isToFail,
    int stream) {
  static final String TASK = "task.number";

  static final ConfigDef DEFINITION =
      new ConfigDef()
          .define("orders.topic", Type.STRING, "orders", Importance.HIGH, "Where orders go.")
          .define("bids.topic", Type.STRING, "bids", Importance.HIGH, "Where bids go.")
          .define("seed", Type.LONG, 0, Importance.MEDIUM, "Other orders for another number.")
          .define(
              "orders.per.second",
              Type.INT,
              10,
              Range.between(1, 1000),
              Importance.MEDIUM,
              "How many orders each task makes in a second.")
          .define(
              "orders.per.task",
              Type.LONG,
              Long.MAX_VALUE,
              Range.atLeast(0),
              Importance.MEDIUM,
              "How many orders each task makes in all; then it waits.")
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
              "The number of a task that is to fail at once; -1 for none.")
          .define(TASK, Type.INT, 0, Importance.LOW, "Set by the connector.");

  static AuctionSettings read(Map<String, String> properties) {
    AbstractConfig given = new AbstractConfig(DEFINITION, properties, false);
    int task = given.getInt(TASK);
    return new AuctionSettings(
        given.getString("orders.topic"),
        given.getString("bids.topic"),
        given.getLong("seed"),
        given.getInt("orders.per.second"),
        given.getLong("orders.per.task"),
        given.getInt("schema.version"),
        given.getInt("fail.task") == task,
        task);
  }
}
