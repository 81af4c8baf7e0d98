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
 * Generates the orders of one stream in order, and continues after the last one whose offset
 * Connect has.
 */
public final class AuctionSourceTask extends SourceTask {
  private static final String STREAM = "stream";
  private static final String GENERATED = "orders";
  private static final long PAUSE_MS = 50;

  private AuctionSettings settings;
  private Auction auction;
  private Schema layout;
  private Pace pace;
  private long generated;
  private long generatedBefore;
  private long startedNanos;

  @Override
  public void start(Map<String, String> properties) {
    settings = AuctionSettings.read(properties);
    auction = new Auction(settings.seed());
    layout = Layouts.order(settings.schemaVersion());
    pace = new Pace(settings.ordersPerSecond(), settings.ordersPerTask());
    Map<String, Object> known =
        context.offsetStorageReader().offset(Map.of(STREAM, settings.stream()));
    generated = known == null ? 0 : (Long) known.get(GENERATED);
    generatedBefore = generated;
    startedNanos = System.nanoTime();
  }

  /** Called repeatedly while the task runs; returns null if no order is due. */
  @Override
  public List<SourceRecord> poll() throws InterruptedException {
    if (settings.shouldFail()) {
      throw new ConnectException("fail.task names this task, so it fails");
    }
    int due = pace.due(generated, generated - generatedBefore, System.nanoTime() - startedNanos);
    if (due == 0) {
      Thread.sleep(PAUSE_MS);
      return null;
    }
    List<SourceRecord> records = new ArrayList<>(due * (1 + Auction.BIDS_PER_ORDER));
    for (int number = 0; number < due; number++) {
      Order order = auction.order(settings.stream(), generated);
      // An order's last record completes it: one that a crash cut off is generated again.
      for (Bid bid : auction.bids(order)) {
        records.add(record(settings.bids(), bid.id(), Layouts.struct(bid)));
      }
      generated++;
      records.add(record(settings.orders(), order.id(), Layouts.struct(order, layout)));
    }
    return records;
  }

  private SourceRecord record(String topic, long key, Struct value) {
    return new SourceRecord(
        Map.of(STREAM, settings.stream()),
        Map.of(GENERATED, generated),
        topic,
        Schema.STRING_SCHEMA,
        Long.toString(key),
        value.schema(),
        value);
  }

  @Override
  public void stop() {
    // There is nothing to release.
  }

  @Override
  public String version() {
    return "0.1.0";
  }
}
