package headwater.lab.auction;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;
import org.junit.jupiter.api.Test;

class LayoutsTest {
  private static final Auction AUCTION = new Auction(0);

  @Test
  void eachVersionAddsAnOptionalField() {
    assertThat(names(1)).containsExactly("order_id", "supplier", "quantity", "price", "ordered_at");
    assertThat(names(2)).endsWith("ordered_at", "currency").hasSize(6);
    assertThat(names(3)).endsWith("ordered_at", "currency", "discount").hasSize(7);
    assertThat(Layouts.order(3).field("discount").schema().isOptional()).isTrue();
  }

  @Test
  void theFourthVersionHasThePriceAsText() {
    assertThat(names(4)).isEqualTo(names(3));
    assertThat(Layouts.order(4).field("price").schema().type()).isEqualTo(Schema.Type.STRING);
  }

  @Test
  void anOrderFitsIntoEveryVersion() {
    for (int version = 1; version <= Layouts.NEWEST; version++) {
      Struct order = Layouts.struct(AUCTION.order(0, 1), Layouts.order(version));

      order.validate();
    }
  }

  @Test
  void aBidFitsIntoItsLayout() {
    Layouts.struct(AUCTION.bids(AUCTION.order(0, 1)).get(0)).validate();
  }

  private static List<String> names(int version) {
    return Layouts.order(version).fields().stream().map(Field::name).toList();
  }
}
