/** Members of structs: lineage names them by their path, `address.city`. */

import type { Field } from '../api/types'

/** Each field, followed by its members; all with their full paths as names. */
export function withMembers(fields: readonly Field[], prefix = ''): Field[] {
  return fields.flatMap(({ fields: members = [], ...field }) => {
    const name = prefix + field.name
    return [{ ...field, name }, ...withMembers(members, `${name}.`)]
  })
}
