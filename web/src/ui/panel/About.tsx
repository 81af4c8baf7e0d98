import type { Owner } from '../../api/answers'
import type { Facets } from '../../api/types'
import { ownersIn } from '../../core/facets'
import { isolated } from '../../core/isolated'
import { Tags } from './Tags'

interface AboutProps {
  readonly facets: Facets
  readonly tags: readonly string[]
}

/** Whom to ask about a job or dataset, and how people or producers marked it; nothing where nobody said. */
export function About({ facets, tags }: AboutProps) {
  const owners = ownersIn(facets)
  if (owners.length === 0 && tags.length === 0) return null
  return (
    <div className="about">
      {owners.length > 0 && (
        <p>
          <span className="muted">owned by</span> {owners.map(ownerWords).join(', ')}
        </p>
      )}
      <Tags tags={tags} />
    </div>
  )
}

function ownerWords({ name, type }: Owner): string {
  return type ? `${isolated(name)} (${isolated(type.toLowerCase())})` : isolated(name)
}
