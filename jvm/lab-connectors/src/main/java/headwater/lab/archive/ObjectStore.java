package headwater.lab.archive;

/** Where objects are put; one that is there is replaced. */
interface ObjectStore extends AutoCloseable {
  void put(String key, byte[] content);

  @Override
  void close();
}
