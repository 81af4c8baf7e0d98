import type { Owner } from '../../api/answers'
import type { Facets } from '../../api/types'
import { ownersIn } from '../../core/facets'
import { isolated } from '../../core/isolated'
import { ShowMore } from '../ShowMore'
import { useMore } from '../useMore'
import { Tags } from './Tags'

interface AboutProps {
  readonly facets: Facets
  readonly tags: readonly string[]
}

/** The owners and tags of a job or dataset; nothing if there are none. */
export function About({ facets, tags }: AboutProps) {
  const owners = ownersIn(facets)
  const more = useMore()
  const shown = owners.slice(0, more.count)
  if (owners.length === 0 && tags.length === 0) return null
  return (
    <div className="about">
      {owners.length > 0 && (
        <div>
          <p>
            <span className="muted">owned by</span> {shown.map(ownerText).join(', ')}
          </p>
          <ShowMore more={more} shown={shown.length} totalCount={owners.length} />
        </div>
      )}
      <Tags tags={tags} />
    </div>
  )
}

function ownerText({ name, type }: Owner): string {
  return type ? `${isolated(name)} (${isolated(type.toLowerCase())})` : isolated(name)
}
