import type { Field } from '../../api/types'
import { formatCount } from '../../core/format'
import type { NodeId } from '../../core/ids'
import { usePage } from '../page'
import { TableHead } from '../TableHead'
import { Tags } from './Tags'

interface SchemaProps {
  readonly dataset: NodeId
  /** All columns, including members of structs. */
  readonly fields: readonly Field[]
  /** The number of top-level columns. */
  readonly count: number
  /** The column whose path is lit. */
  readonly chosen: string | undefined
}

export function Schema({ dataset, fields, count, chosen }: SchemaProps) {
  const { moveFocus, toggleColumn } = usePage()
  return (
    <section>
      <h3>
        Schema <span className="muted">{count > 0 && formatCount(count)}</span>
      </h3>
      {fields.length === 0 ? (
        <p className="muted">No schema was reported.</p>
      ) : (
        <table className="schema">
          <TableHead names={['Column', 'Type']} />
          <tbody>
            {fields.map(({ name, type, description, tags = [] }) => (
              <tr key={name} data-chosen={name === chosen}>
                <td>
                  <button
                    type="button"
                    className="link"
                    aria-pressed={name === chosen}
                    onClick={(click) => {
                      toggleColumn({ dataset, column: name })
                      if (name !== chosen) moveFocus('story', click)
                    }}
                  >
                    {name}
                  </button>
                  {description && <p className="field-note">{description}</p>}
                  <Tags tags={tags} />
                </td>
                <td className="schema-type">{type}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
