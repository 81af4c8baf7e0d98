package headwater.lab.archive;

import org.apache.kafka.connect.errors.RetriableException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;

/** An S3 bucket, with the credentials that the SDK finds: variables, profile, role. */
final class S3 implements ObjectStore {
  private final S3Client client;
  private final String bucket;

  S3(ArchiveSettings settings) {
    S3ClientBuilder builder =
        S3Client.builder()
            .region(Region.of(settings.region()))
            .httpClientBuilder(UrlConnectionHttpClient.builder());
    settings.endpoint().ifPresent(url -> builder.endpointOverride(url).forcePathStyle(true));
    client = builder.build();
    bucket = settings.bucket();
  }

  @Override
  public void put(String key, byte[] content) {
    try {
      client.putObject(
          request -> request.bucket(bucket).key(key).contentType("application/jsonl"),
          RequestBody.fromBytes(content));
    } catch (SdkException failure) {
      // The offsets are not committed, so the next attempt writes the records again.
      throw new RetriableException("cannot write object " + key + ": " + failure, failure);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}
