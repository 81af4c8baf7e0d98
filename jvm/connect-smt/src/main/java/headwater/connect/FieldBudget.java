package headwater.connect;

import java.util.List;

/**
 * Limits the reported fields of one schema. Schemas may be recursive, in many places: without a
 * limit they would fill the worker's memory.
 */
final class FieldBudget {
  private static final int MAX_FIELDS = 2_000;

  private int left = MAX_FIELDS;

  /**
   * Takes the members of one struct, up to the remaining limit. Call it before descending into any
   * of them, so that nested fields do not use up the limit of their siblings.
   */
  <T> List<T> take(List<T> members) {
    List<T> taken = members.subList(0, Math.min(left, members.size()));
    left -= taken.size();
    return taken;
  }
}
