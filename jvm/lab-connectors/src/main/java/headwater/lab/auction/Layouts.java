package headwater.lab.auction;

import headwater.lab.auction.Auction.Bid;
import headwater.lab.auction.Auction.Order;
import java.util.Date;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Timestamp;

/**
 * The schemas of orders and bids. Orders have four versions:
 *
 * <pre>
 * 1   order_id, supplier, quantity, price, ordered_at
 * 2   adds currency
 * 3   adds discount
 * 4   as 3, but price is text: a mistake, which a registry with compatibility BACKWARD refuses
 * </pre>
 */
final class Layouts {
  static final int NEWEST = 4;
  private static final int WITH_CURRENCY = 2;
  private static final int WITH_DISCOUNT = 3;
  private static final int WITH_PRICE_AS_TEXT = 4;

  private static final Schema BID =
      SchemaBuilder.struct()
          .name("headwater.lab.Bid")
          .field("bid_id", Schema.INT64_SCHEMA)
          .field("order_id", Schema.INT64_SCHEMA)
          .field("supplier", Schema.STRING_SCHEMA)
          .field("amount", Schema.FLOAT64_SCHEMA)
          .field("bid_time", Timestamp.SCHEMA)
          .build();

  private Layouts() {}

  /** The schema of orders in a version from 1 to 4. */
  static Schema order(int version) {
    SchemaBuilder order =
        SchemaBuilder.struct()
            .name("headwater.lab.Order")
            .field("order_id", Schema.INT64_SCHEMA)
            .field("supplier", Schema.STRING_SCHEMA)
            .field("quantity", Schema.INT32_SCHEMA)
            .field(
                "price",
                version >= WITH_PRICE_AS_TEXT ? Schema.STRING_SCHEMA : Schema.FLOAT64_SCHEMA)
            .field("ordered_at", Timestamp.SCHEMA);
    if (version >= WITH_CURRENCY) {
      order.field("currency", SchemaBuilder.string().optional().defaultValue(null).build());
    }
    if (version >= WITH_DISCOUNT) {
      order.field("discount", SchemaBuilder.float64().optional().defaultValue(null).build());
    }
    return order.build();
  }

  static Struct struct(Order order, Schema schema) {
    boolean isText = schema.field("price").schema().type() == Schema.Type.STRING;
    Struct filled =
        new Struct(schema)
            .put("order_id", order.id())
            .put("supplier", order.supplier())
            .put("quantity", order.quantity())
            .put("price", isText ? Double.toString(order.price()) : (Object) order.price())
            .put("ordered_at", Date.from(order.orderedAt()));
    if (schema.field("currency") != null) {
      filled.put("currency", order.currency());
    }
    if (schema.field("discount") != null) {
      filled.put("discount", order.discount());
    }
    return filled;
  }

  static Struct struct(Bid bid) {
    return new Struct(BID)
        .put("bid_id", bid.id())
        .put("order_id", bid.orderId())
        .put("supplier", bid.supplier())
        .put("amount", bid.amountCents() / 100.0)
        .put("bid_time", Date.from(bid.bidTime()));
  }
}
