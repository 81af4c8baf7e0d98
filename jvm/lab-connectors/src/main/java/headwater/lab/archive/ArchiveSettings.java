package headwater.lab.archive;

import java.net.URI;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigException;

/** What an archive is told by its connector's configuration. */
record ArchiveSettings(
    String bucket, String prefix, String region, Optional<URI> endpoint, int offsetsPerObject) {
  static final ConfigDef DEFINITION =
      new ConfigDef()
          .define(
              "s3.bucket.name",
              Type.STRING,
              ConfigDef.NO_DEFAULT_VALUE,
              new ConfigDef.NonEmptyString(),
              Importance.HIGH,
              "The bucket, which must be there.")
          .define(
              "s3.prefix",
              Type.STRING,
              "topics",
              Importance.HIGH,
              "The folder in it, which has a folder for each topic.")
          .define("s3.region", Type.STRING, "us-east-1", Importance.MEDIUM, "Its region.")
          .define(
              "s3.endpoint",
              Type.STRING,
              "",
              Importance.MEDIUM,
              "The URL of an S3 that is not Amazon's; buckets are then spoken to by path.")
          .define(
              "offsets.per.object",
              Type.INT,
              1000,
              Range.atLeast(1),
              Importance.LOW,
              "How many offsets of a partition an object is for.");

  static ArchiveSettings read(Map<String, String> properties) {
    AbstractConfig given = new AbstractConfig(DEFINITION, properties, false);
    return new ArchiveSettings(
        given.getString("s3.bucket.name"),
        given.getString("s3.prefix").replaceAll("^/+|/+$", ""),
        given.getString("s3.region"),
        endpoint(given.getString("s3.endpoint")),
        given.getInt("offsets.per.object"));
  }

  /** The name of the object that begins at an offset. */
  String key(String topic, int partition, long firstOffset) {
    String folder = prefix.isEmpty() ? "" : prefix + "/";
    return "%s%s/partition=%d/%012d.jsonl".formatted(folder, topic, partition, firstOffset);
  }

  private static Optional<URI> endpoint(String text) {
    try {
      return text.isEmpty() ? Optional.empty() : Optional.of(URI.create(text));
    } catch (IllegalArgumentException unreadable) {
      throw new ConfigException(
          "s3.endpoint", text, "expected a URL such as http://localhost:9000");
    }
  }
}
