import { ShowMore } from '../ShowMore'
import { useMore } from '../useMore'

const SHOWN = 20

export function Tags({ tags }: { tags: readonly string[] }) {
  const more = useMore(SHOWN)
  if (tags.length === 0) return null
  const shown = tags.slice(0, more.count)
  return (
    <div>
      <ul className="badges" aria-label="Tags">
        {shown.map((tag) => (
          <li key={tag} className="badge">
            {tag}
          </li>
        ))}
      </ul>
      <ShowMore more={more} shown={shown.length} totalCount={tags.length} />
    </div>
  )
}
