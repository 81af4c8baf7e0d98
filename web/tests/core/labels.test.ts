import { describe, expect, test } from 'vitest'
import type { Dataset } from '../../src/api/types'
import { datasetLabel, jobLabel, labelText, nameParts } from '../../src/core/labels'

function dataset(name: string, ...others: readonly string[]): Dataset {
  const symlinks = others.map((other) => ({ namespace: 'other', name: other }))
  return { namespace: 'file', name, description: null, fields: [], symlinks }
}

describe('the label of a dataset', () => {
  test('is its catalog name if it has one', () => {
    const label = datasetLabel(
      dataset('/home/x/lake/warehouse/marts/carrier_delays', 'lake.marts.carrier_delays'),
    )

    expect(label).toEqual({ path: 'lake.marts.', name: 'carrier_delays' })
  })

  test.each([
    ['x', ['wh/orders', 'sales.orders'], 'sales.orders'],
    ['wh/orders', ['marts.delays', 'lake.marts.delays'], 'lake.marts.delays'],
    ['sales.orders', ['wh/orders', 'db.sales'], 'sales.orders'],
    ['orders', ['clicks'], 'orders'],
  ])('of %j with the aliases %j is the most qualified table name', (name, others, expected) => {
    expect(labelText(datasetLabel(dataset(name, ...others)))).toBe(expected)
  })

  test.each([
    ['/home/x/csv/flights.csv', 'csv/flights.csv'],
    ['/flights.csv', 'flights.csv'],
    ['public.orders', 'public.orders'],
    ['orders', 'orders'],
    ['', ''],
    ['/', '/'],
    ['ends.', 'ends.'],
  ])('of %j without a catalog name is its end: %j', (name, expected) => {
    expect(labelText(datasetLabel(dataset(name)))).toBe(expected)
  })
})

describe('the label of a job', () => {
  test.each([
    ['ingest-flights', '', 'ingest-flights'],
    ['shop.load', '', 'shop.load'],
    ['shop.main.shop.revenue', 'shop.main.', 'shop.revenue'],
    ['shop.main.shop.tax.test', 'shop.main.', 'shop.tax.test'],
    ['shop.main.shop.revenue.test', 'shop.main.shop.', 'revenue.test'],
    ['spark_app.execute_insert_into', 'spark_app.', 'execute_insert_into'],
    ['a_name_that_has_no_dots', '', 'a_name_that_has_no_dots'],
    ['dags/nightly/load_orders', 'dags/nightly/', 'load_orders'],
    ['pipeline_ends_with_a_dot.', '', 'pipeline_ends_with_a_dot.'],
  ])('of %j has the last segments uncut', (name, path, end) => {
    const job = {
      namespace: 'etl',
      name,
      description: null,
      type: 'BATCH',
      latestRun: null,
    }

    expect(jobLabel(job)).toEqual({ path, name: end })
  })
})

test.each([
  ['batch_orders.append-data', ['batch_', 'orders.', 'append-', 'data']],
  ['s3://shop//sold', ['s3://', 'shop//', 'sold']],
  ['orders', ['orders']],
  ['', ['']],
])('%s may wrap after its separators', (name, parts) => {
  expect(nameParts(name)).toEqual(parts)
})
