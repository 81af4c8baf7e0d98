package headwater.connect;

/** Which version of its subject a schema is, as the schema registry counts. */
record RegisteredVersion(String subject, int version, int schemaId, String schemaType) {}
