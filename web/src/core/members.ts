/** Columns within columns: a struct has members, which lineage names by their way, `address.city`. */

import type { Field } from '../api/types'

/** Each field, followed by its members; all by their whole names. */
export function withMembers(fields: readonly Field[], way = ''): Field[] {
  return fields.flatMap(({ fields: members = [], ...field }) => {
    const name = way + field.name
    return [{ ...field, name }, ...withMembers(members, `${name}.`)]
  })
}
