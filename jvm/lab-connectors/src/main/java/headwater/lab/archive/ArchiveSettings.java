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

/** An archive's settings, from its connector's configuration. */
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
              "The bucket, which must exist.")
          .define(
              "s3.prefix",
              Type.STRING,
              "topics",
              Importance.HIGH,
              "The folder in it, with a folder for each topic.")
          .define("s3.region", Type.STRING, "us-east-1", Importance.MEDIUM, "Its region.")
          .define(
              "s3.endpoint",
              Type.STRING,
              "",
              Importance.MEDIUM,
              "The URL of an S3 service other than Amazon's; buckets are then addressed by path.")
          .define(
              "offsets.per.object",
              Type.INT,
              1000,
              Range.atLeast(1),
              Importance.LOW,
              "The number of a partition's offsets per object.");

  static ArchiveSettings read(Map<String, String> properties) {
    AbstractConfig config = new AbstractConfig(DEFINITION, properties, false);
    return new ArchiveSettings(
        config.getString("s3.bucket.name"),
        config.getString("s3.prefix").replaceAll("^/+|/+$", ""),
        config.getString("s3.region"),
        endpoint(config.getString("s3.endpoint")),
        config.getInt("offsets.per.object"));
  }

  /** The key of the object that starts at an offset. */
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
