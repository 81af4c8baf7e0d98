package headwater.lab.suppliers;

import org.apache.flink.formats.json.JsonSerializationSchema;

/**
 * A subclass, because lineage cannot find out the written type from an instance of the generic
 * class.
 */
final class TurnoverAsJson extends JsonSerializationSchema<Turnover> {}
