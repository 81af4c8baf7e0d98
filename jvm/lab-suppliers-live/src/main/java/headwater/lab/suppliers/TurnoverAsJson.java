package headwater.lab.suppliers;

import org.apache.flink.formats.json.JsonSerializationSchema;

/**
 * A class of its own, since an object of the generic one does not tell lineage which type it
 * writes.
 */
final class TurnoverAsJson extends JsonSerializationSchema<Turnover> {}
