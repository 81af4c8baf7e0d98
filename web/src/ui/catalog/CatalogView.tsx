import { type CatalogRoute, formatRoute, KINDS, LAST_STATES } from '../../core/route'
import { STATE_LABELS } from '../../core/runs'
import { usePage } from '../page'
import { useLoaded } from '../useLoaded'
import { replace } from '../useRoute'
import { useThrottledRevision } from '../useThrottledRevision'
import { DatasetTable } from './DatasetTable'
import { JobTable } from './JobTable'

/** Namespaces in the choice, at most. */
const MAX_NAMESPACES = 1_000

/** All jobs or datasets, of one namespace or all. */
export function CatalogView({ route }: { route: CatalogRoute }) {
  const { kind, namespace, state } = route
  const Table = kind === 'jobs' ? JobTable : DatasetTable
  return (
    <div className="sheet">
      <h2>Catalog</h2>
      <div className="filters">
        <Kinds route={route} />
        <NamespaceChoice route={route} />
        {kind === 'jobs' && <StateChoice route={route} />}
      </div>
      <Table key={formatRoute(route)} namespace={namespace} state={state} />
    </div>
  )
}

function Kinds({ route }: { route: CatalogRoute }) {
  return (
    <nav aria-label="Kind">
      <ul className="views">
        {KINDS.map((kind) => (
          <li key={kind}>
            <a
              href={formatRoute({ ...route, kind, state: undefined })}
              aria-current={kind === route.kind ? 'page' : undefined}
            >
              {WORDS[kind]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const WORDS = { jobs: 'Jobs', datasets: 'Datasets' } as const

function NamespaceChoice({ route }: { route: CatalogRoute }) {
  const known = useNamespaces()
  const { namespace } = route
  return (
    <label>
      Namespace
      <select
        value={namespace ?? ''}
        onChange={({ target }) => replace({ ...route, namespace: target.value || undefined })}
      >
        <option value="">all</option>
        {namespace !== undefined && !known.includes(namespace) && <option>{namespace}</option>}
        {known.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  )
}

/** The names of the namespaces that were not deleted; none before they are loaded. */
function useNamespaces(): readonly string[] {
  const { client, revision } = usePage()
  const version = useThrottledRevision(revision)
  const found = useLoaded('namespaces', version, () => client.namespaces(MAX_NAMESPACES))
  if (found.state !== 'ready') return []
  return found.value.items.filter(({ isHidden }) => !isHidden).map(({ name }) => name)
}

function StateChoice({ route }: { route: CatalogRoute }) {
  return (
    <label>
      Last run
      <select
        value={route.state ?? ''}
        onChange={({ target }) =>
          replace({ ...route, state: LAST_STATES.find((state) => state === target.value) })
        }
      >
        <option value="">any</option>
        {LAST_STATES.map((state) => (
          <option key={state} value={state}>
            {STATE_LABELS[state]}
          </option>
        ))}
      </select>
    </label>
  )
}
