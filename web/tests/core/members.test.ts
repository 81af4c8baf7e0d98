import { expect, test } from 'vitest'
import type { Field } from '../../src/api/types'
import { withMembers } from '../../src/core/members'

const field = (name: string, ...fields: Field[]): Field => ({
  name,
  type: 'string',
  description: null,
  fields,
})

test('members follow their struct, with their full paths as names', () => {
  const address = field('address', field('city'), field('geo', field('lat')))

  const names = withMembers([field('id'), address, field('a.b')]).map(({ name }) => name)

  expect(names).toEqual(['id', 'address', 'address.city', 'address.geo', 'address.geo.lat', 'a.b'])
})
