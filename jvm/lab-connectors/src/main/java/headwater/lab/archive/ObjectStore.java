package headwater.lab.archive;

/** Stores objects; an existing one is replaced. */
interface ObjectStore extends AutoCloseable {
  void put(String key, byte[] content);

  @Override
  void close();
}
