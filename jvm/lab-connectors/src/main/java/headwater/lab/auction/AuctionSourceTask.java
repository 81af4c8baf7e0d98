package headwater.lab.auction;

import headwater.lab.auction.Auction.Bid;
import headwater.lab.auction.Auction.Order;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/**
 * Makes the orders of one stream in their turn, and goes on after the last one that Connect knows
 * of.
 */
public final class AuctionSourceTask extends SourceTask {
  private static final String STREAM = "stream";
  private static final String MADE = "orders";
  private static final long REST_MS = 50;

  private AuctionSettings settings;
  private Auction auction;
  private Schema layout;
  private Pace pace;
  private long made;
  private long madeBefore;
  private long startedNanos;

  @Override
  public void start(Map<String, String> properties) {
    settings = AuctionSettings.read(properties);
    auction = new Auction(settings.seed());
    layout = Layouts.order(settings.schemaVersion());
    pace = new Pace(settings.ordersPerSecond(), settings.ordersPerTask());
    Map<String, Object> known =
        context.offsetStorageReader().offset(Map.of(STREAM, settings.stream()));
    made = known == null ? 0 : (Long) known.get(MADE);
    madeBefore = made;
    startedNanos = System.nanoTime();
  }

  /** Called again and again, as long as the task runs; null says that there is nothing now. */
  @Override
  public List<SourceRecord> poll() throws InterruptedException {
    if (settings.isToFail()) {
      throw new ConnectException("fail.task says that this task is to fail");
    }
    int due = pace.due(made, made - madeBefore, System.nanoTime() - startedNanos);
    if (due == 0) {
      Thread.sleep(REST_MS);
      return null;
    }
    List<SourceRecord> records = new ArrayList<>(due * (1 + Auction.BIDS_PER_ORDER));
    for (int number = 0; number < due; number++) {
      Order order = auction.order(settings.stream(), made);
      // The last record of an order says that it is made: what a crash cuts off is made anew.
      for (Bid bid : auction.bids(order)) {
        records.add(record(settings.bids(), bid.id(), Layouts.laidOut(bid)));
      }
      made++;
      records.add(record(settings.orders(), order.id(), Layouts.laidOut(order, layout)));
    }
    return records;
  }

  private SourceRecord record(String topic, long key, Struct value) {
    return new SourceRecord(
        Map.of(STREAM, settings.stream()),
        Map.of(MADE, made),
        topic,
        Schema.STRING_SCHEMA,
        Long.toString(key),
        value.schema(),
        value);
  }

  @Override
  public void stop() {
    // There is nothing to let go of.
  }

  @Override
  public String version() {
    return "0.1.0";
  }
}
