import type { NodeId } from '../../core/ids'
import { labelText } from '../../core/labels'
import type { Hit } from '../../core/search'
import { JobIcon, TableIcon } from '../icons'
import { LabelText } from '../LabelText'
import type { Hits } from './useHits'

interface ResultsProps {
  readonly id: string
  readonly hits: readonly Hit[]
  readonly answer: Hits['answer']
  readonly chosen: number
  readonly onTake: (node: NodeId) => void
}

const NO_RESULTS = {
  loading: 'Searching…',
  failed: 'No match in the loaded graph, and the service does not answer.',
  ready: 'No matches.',
} as const

export function Results({ id, hits, answer, chosen, onTake }: ResultsProps) {
  if (hits.length === 0) {
    return (
      <p className="results results-none" role="status">
        {NO_RESULTS[answer]}
      </p>
    )
  }
  return (
    <div className="results" id={id} role="listbox" aria-label="Search results">
      {hits.map((hit, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled where the focus stays, in the search box
        <div
          key={hit.nodeId}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          aria-label={`${hit.type === 'JOB' ? 'Job' : 'Dataset'} ${labelText(hit.label)} ${hit.namespace}`}
          className="result"
          onMouseDown={(event) => event.preventDefault()} // keeps the focus, so that the list stays for the click
          onClick={() => onTake(hit.nodeId)}
        >
          {hit.type === 'JOB' ? <JobIcon /> : <TableIcon />}
          <span className="result-words">
            <LabelText label={hit.label} /> <span className="result-place">{hit.namespace}</span>
          </span>
        </div>
      ))}
    </div>
  )
}
