package headwater.connect;

import java.util.List;

/**
 * How many fields of one schema are told. Schemas may hold themselves, and several others that do:
 * without a bound they would fill the worker's memory.
 */
final class FieldBudget {
  private static final int MAX_FIELDS = 2_000;

  private int left = MAX_FIELDS;

  /**
   * The members of one struct, as many of them as there is room for. To be asked before what is
   * inside of any of them, which then takes no room from the others.
   */
  <T> List<T> taken(List<T> members) {
    List<T> taken = members.subList(0, Math.min(left, members.size()));
    left -= taken.size();
    return taken;
  }
}
