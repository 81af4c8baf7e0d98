-- What each supplier sells, hour by hour, for whoever cannot wait for the batch.
SET 'pipeline.name' = 'suppliers-live';
SET 'execution.checkpointing.interval' = '2s';

CREATE TEMPORARY TABLE orders (
  order_id BIGINT NOT NULL, supplier STRING NOT NULL, quantity INT NOT NULL, price DOUBLE NOT NULL,
  ordered_at TIMESTAMP(3) NOT NULL,
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '1' MINUTE
) WITH (
  'connector' = 'kafka',
  'topic' = 'orders',
  'properties.bootstrap.servers' = '127.0.0.1:9092',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'avro-confluent',
  'avro-confluent.url' = 'http://127.0.0.1:8081/apis/ccompat/v7'
);
CREATE TEMPORARY TABLE suppliers_live (supplier STRING, hour_begins TIMESTAMP(3), turnover DOUBLE) WITH (
  'connector' = 'kafka',
  'topic' = 'suppliers_live',
  'properties.bootstrap.servers' = '127.0.0.1:9092',
  'format' = 'json'
);

INSERT INTO suppliers_live
SELECT supplier, window_start, SUM(price * quantity)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR))
GROUP BY supplier, window_start, window_end;
