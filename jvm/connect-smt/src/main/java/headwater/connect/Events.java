package headwater.connect;

import static java.util.Map.entry;

import headwater.connect.RunUpdate.Kind;
import headwater.connect.RunUpdate.TopicUpdate;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Builds OpenLineage events. Source: OpenLineage 2.0.2,
 * https://openlineage.io/spec/2-0-2/OpenLineage.json
 */
final class Events {
  static final String VERSION = "0.1.0";
  static final String PRODUCER = "https://headwater.dev/producer/connect-smt/" + VERSION;
  private static final String STANDARD = "https://openlineage.io/spec/facets/";
  private static final String OURS = "https://headwater.dev/spec/facets/1-0-0/";
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

  private Events() {}

  /**
   * The event for an update of a connector's run.
   *
   * @param kafkaVersion of the worker
   * @param connectorClass null if unknown
   */
  static Map<String, Object> of(RunUpdate update, String kafkaVersion, String connectorClass) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("eventType", update.state().name());
    event.put("eventTime", time(update.time()));
    event.put("producer", PRODUCER);
    event.put("schemaURL", "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent");
    event.put("run", run(update, kafkaVersion, connectorClass));
    event.put("job", job(update));
    event.put(
        "inputs",
        update.kind() == Kind.SINK ? topics(update, "inputFacets") : otherDatasets(update));
    event.put(
        "outputs",
        update.kind() == Kind.SOURCE ? topics(update, "outputFacets") : otherDatasets(update));
    return event;
  }

  private static Map<String, Object> run(
      RunUpdate update, String kafkaVersion, String connectorClass) {
    Map<String, Object> engine =
        facet(STANDARD + "1-1-1/ProcessingEngineRunFacet.json#/$defs/ProcessingEngineRunFacet");
    engine.put("name", "kafka-connect");
    engine.put("version", kafkaVersion);
    engine.put("openlineageAdapterVersion", VERSION);
    Map<String, Object> connect = facet(OURS + "headwater_connect.json");
    connect.put("connector", update.connector());
    connect.put("connectorClass", connectorClass);
    connect.put(
        "kind",
        update.kind() == Kind.UNKNOWN ? null : update.kind() == Kind.SOURCE ? "source" : "sink");
    connect.put("tasks", update.tasks().stream().map(number -> Map.of("id", number)).toList());
    connect.put("topics", update.topics().stream().map(TopicUpdate::name).toList());
    connect.put("recordsSeen", update.recordsSeen());
    connect.put("since", time(update.since()));
    connect.values().removeIf(value -> value == null);
    return Map.of(
        "runId", update.runId().toString(),
        "facets", Map.of("processing_engine", engine, "headwater_connect", connect));
  }

  private static Map<String, Object> job(RunUpdate update) {
    Map<String, Object> type =
        facet(STANDARD + "2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet");
    type.put("processingType", "STREAMING");
    type.put("integration", "KAFKA_CONNECT");
    type.put("jobType", "CONNECTOR");
    return Map.ofEntries(
        entry("namespace", update.settings().jobNamespace()),
        entry("name", update.connector()),
        entry("facets", Map.of("jobType", type)));
  }

  private static List<Object> topics(RunUpdate update, String statisticsIn) {
    List<Object> datasets = new ArrayList<>();
    if (update.settings().kafkaNamespace() != null) {
      update
          .topics()
          .forEach(
              topic ->
                  datasets.add(topic(update.settings().kafkaNamespace(), topic, statisticsIn)));
    }
    return datasets;
  }

  private static Map<String, Object> topic(
      String namespace, TopicUpdate topic, String statisticsIn) {
    Map<String, Object> facets = new LinkedHashMap<>();
    Map<String, Object> type =
        facet(STANDARD + "1-0-1/DatasetTypeDatasetFacet.json#/$defs/DatasetTypeDatasetFacet");
    type.put("datasetType", "TOPIC");
    facets.put("datasetType", type);
    if (topic.shape() != null) {
      addShape(facets, topic.shape());
    }
    boolean isInput = statisticsIn.equals("inputFacets");
    Map<String, Object> statistics =
        isInput
            ? facet(
                STANDARD
                    + "1-0-0/InputStatisticsInputDatasetFacet.json#/$defs/InputStatisticsInputDatasetFacet")
            : facet(
                STANDARD
                    + "1-0-2/OutputStatisticsOutputDatasetFacet.json#/$defs/OutputStatisticsOutputDatasetFacet");
    statistics.put("rowCount", topic.records());
    return Map.of(
        "namespace",
        namespace,
        "name",
        topic.name(),
        "facets",
        facets,
        statisticsIn,
        Map.of(isInput ? "inputStatistics" : "outputStatistics", statistics));
  }

  private static void addShape(Map<String, Object> facets, Shape shape) {
    if (!shape.fields().isEmpty()) {
      Map<String, Object> schema =
          facet(STANDARD + "1-2-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet");
      schema.put("fields", fields(shape.fields()));
      facets.put("schema", schema);
    }
    if (shape.origin() != Shape.Origin.UNKNOWN || !shape.keyFields().isEmpty()) {
      Map<String, Object> record = facet(OURS + "headwater_connect_schema.json");
      record.put("origin", shape.origin().name().toLowerCase(java.util.Locale.ROOT));
      record.put("name", shape.name());
      record.put("version", shape.version());
      record.put("keyFields", shape.keyFields().isEmpty() ? null : fields(shape.keyFields()));
      record.values().removeIf(value -> value == null);
      facets.put("headwater_connect_schema", record);
    }
    if (shape.registered() != null) {
      Map<String, Object> version = facet(OURS + "headwater_topic_schema.json");
      version.put("subject", shape.registered().subject());
      version.put("version", shape.registered().version());
      version.put("schemaId", shape.registered().schemaId());
      version.put("schemaType", shape.registered().schemaType());
      facets.put("headwater_topic_schema", version);
    }
  }

  private static List<Object> fields(List<FieldShape> shapes) {
    List<Object> fields = new ArrayList<>();
    for (FieldShape shape : shapes) {
      Map<String, Object> field = new LinkedHashMap<>();
      field.put("name", shape.name());
      field.put("type", shape.type());
      field.put("ordinal_position", fields.size() + 1);
      if (shape.description() != null) {
        field.put("description", shape.description());
      }
      if (!shape.fields().isEmpty()) {
        field.put("fields", fields(shape.fields()));
      }
      fields.add(field);
    }
    return fields;
  }

  /**
   * The datasets on the connector's other side, as configured: outputs of a sink, inputs of a
   * source.
   */
  private static List<Object> otherDatasets(RunUpdate update) {
    if (update.kind() == Kind.UNKNOWN) {
      return List.of();
    }
    String namespace = update.settings().otherNamespace();
    return update.settings().otherNames().stream()
        .<Object>map(name -> Map.of("namespace", namespace, "name", name))
        .toList();
  }

  private static Map<String, Object> facet(String schema) {
    Map<String, Object> facet = new LinkedHashMap<>();
    facet.put("_producer", PRODUCER);
    facet.put("_schemaURL", schema);
    return facet;
  }

  private static String time(Instant time) {
    return TIME.format(time);
  }
}
