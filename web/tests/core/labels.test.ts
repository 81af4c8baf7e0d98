import { describe, expect, test } from 'vitest'
import type { Dataset } from '../../src/api/types'
import { datasetLabel, jobLabel, labelText } from '../../src/core/labels'

function dataset(name: string, symlink?: unknown): Dataset {
  const facets = symlink === undefined ? {} : { symlinks: symlink }
  return { namespace: 'file', name, description: null, fields: [], facets }
}

describe('the label of a dataset', () => {
  test('is its catalog name where it has one', () => {
    const table = { identifiers: [{ namespace: 'lake', name: 'lake.marts.carrier_delays', type: 'TABLE' }] }

    const label = datasetLabel(dataset('/home/x/lake/warehouse/marts/carrier_delays', table))

    expect(label).toEqual({ path: 'lake.marts.', name: 'carrier_delays' })
  })

  test('prefers a table to a location', () => {
    const both = {
      identifiers: [
        { namespace: 's3://lake', name: 'wh/orders', type: 'LOCATION' },
        { namespace: 'glue', name: 'sales.orders', type: 'TABLE' },
      ],
    }

    expect(labelText(datasetLabel(dataset('x', both)))).toBe('sales.orders')
  })

  test('prefers the most qualified table', () => {
    const both = {
      identifiers: [
        { namespace: 'file:/lake', name: 'marts.delays', type: 'TABLE' },
        { namespace: 'sqlite:/catalog.db', name: 'lake.marts.delays', type: 'TABLE' },
      ],
    }

    expect(labelText(datasetLabel(dataset('x', both)))).toBe('lake.marts.delays')
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

  test.each(['text', 7, null, [], { identifiers: 'x' }, { identifiers: [null, 1, { name: 2 }] }])(
    'ignores a symlinks facet of the wrong shape: %j',
    (facet) => {
      expect(labelText(datasetLabel(dataset('a/b', facet)))).toBe('a/b')
    },
  )
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
  ])('of %j keeps the end whole', (name, path, end) => {
    const job = {
      namespace: 'etl',
      name,
      description: null,
      type: 'BATCH',
      parentJobName: null,
      latestRun: null,
    }

    expect(jobLabel(job)).toEqual({ path, name: end })
  })
})
