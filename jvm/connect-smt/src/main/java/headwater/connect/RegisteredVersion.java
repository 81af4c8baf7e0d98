package headwater.connect;

/** A schema's subject, and its version in it, in the schema registry. */
record RegisteredVersion(String subject, int version, int schemaId, String schemaType) {}
