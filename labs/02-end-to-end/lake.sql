-- Orders from their topic into the lake, continuously.
SET 'pipeline.name' = 'orders-to-lake';
SET 'execution.checkpointing.interval' = '2s';

CREATE CATALOG lake WITH (
  'type' = 'iceberg',
  'catalog-impl' = 'org.apache.iceberg.aws.glue.GlueCatalog',
  'warehouse' = 's3://lake/warehouse',
  'io-impl' = 'org.apache.iceberg.aws.s3.S3FileIO',
  'glue.endpoint' = 'http://127.0.0.1:9000',
  's3.endpoint' = 'http://127.0.0.1:9000',
  's3.path-style-access' = 'true',
  'client.region' = 'us-east-1'
);
CREATE DATABASE IF NOT EXISTS lake.`default`;
CREATE TABLE IF NOT EXISTS lake.`default`.orders (
  order_id BIGINT, supplier STRING, quantity INT, price DOUBLE, ordered_at TIMESTAMP(3)
);

CREATE TEMPORARY TABLE orders (
  order_id BIGINT NOT NULL, supplier STRING NOT NULL, quantity INT NOT NULL, price DOUBLE NOT NULL,
  ordered_at TIMESTAMP(3) NOT NULL
) WITH (
  'connector' = 'kafka',
  'topic' = 'orders',
  'properties.bootstrap.servers' = '127.0.0.1:9092',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'avro-confluent',
  'avro-confluent.url' = 'http://127.0.0.1:8081/apis/ccompat/v7'
);

INSERT INTO lake.`default`.orders SELECT order_id, supplier, quantity, price, ordered_at FROM orders;
