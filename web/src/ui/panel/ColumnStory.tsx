import { useEffect, useRef } from 'react'
import type { ColumnGraph } from '../../core/columns'
import { type ColumnRef, columnKey } from '../../core/ids'
import { isolated } from '../../core/isolated'
import type { Loadable } from '../../core/loadable'
import { type ColumnReach, columnPath } from '../../core/walk'
import { byDataset, comesFrom, counted, goesInto, type Phrase } from '../../core/wording'
import { usePage } from '../page'
import { useRestoreFocus } from '../useRestoreFocus'
import { ColumnList, PhraseText } from './ColumnWords'
import { Fault } from './Faults'
import { NodeLink } from './NodeLinks'

interface ColumnStoryProps {
  readonly start: ColumnRef
  readonly columns: Loadable<ColumnGraph>
  /** Whether the dataset's schema has the column. */
  readonly isInSchema: boolean
}

/** Describes in sentences where a column comes from and what it reaches. */
export function ColumnStory({ start, columns, isInSchema }: ColumnStoryProps) {
  switch (columns.state) {
    case 'loading':
      return <p role="status">Loading the lineage of {isolated(start.column)}…</p>
    case 'failed':
      return <Fault message={columns.message} />
    case 'ready':
      return isInSchema || columns.value.columns.has(columnKey(start)) ? (
        <Story start={start} graph={columns.value} />
      ) : (
        <p role="status">
          The dataset has no column <b className="column-name">{isolated(start.column)}</b> now; a schema
          change may have removed it.
        </p>
      )
  }
}

function Story({ start, graph }: { start: ColumnRef; graph: ColumnGraph }) {
  const key = columnKey(start)
  const { upstream, downstream } = columnPath(graph, key, true)
  const top = useRef<HTMLElement>(null)
  const { focusTransfer } = usePage()
  useRestoreFocus()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another column is the reason to scroll back up
  useEffect(() => {
    top.current?.scrollIntoView({ block: 'nearest' })
  }, [key])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus moves to another column
  useEffect(() => {
    if (focusTransfer?.take('story')) top.current?.querySelector('h3')?.focus()
  }, [key, focusTransfer])
  return (
    <section className="story" ref={top} aria-label={`Column ${start.column}`}>
      <h3 tabIndex={-1}>
        Where <b className="column-name">{isolated(start.column)}</b> comes from
      </h3>
      <Sentence column={start.column} phrases={comesFrom(graph, key)} link="is" none="has no known source." />
      <Reach graph={graph} reach={upstream} word="upstream" />
      <h3>
        What <b className="column-name">{isolated(start.column)}</b> reaches
      </h3>
      <Sentence
        column={start.column}
        phrases={goesInto(graph, key)}
        link=""
        none="reaches no other column."
      />
      <Reach graph={graph} reach={downstream} word="downstream" />
    </section>
  )
}

interface SentenceProps {
  readonly column: string
  readonly phrases: readonly Phrase[]
  /** Precedes the phrases. */
  readonly link: string
  /** In place of the phrases if there are none. */
  readonly none: string
}

/** `avg_arr_delay` is aggregated from … ; filtered by … . */
function Sentence({ column, phrases, link, none }: SentenceProps) {
  return (
    <p>
      <b className="column-name">{isolated(column)}</b> {phrases.length === 0 ? none : link && `${link} `}
      {phrases.map((phrase, index) => (
        <PhraseText
          key={`${phrase.verb} ${phrase.ofAll}`}
          phrase={phrase}
          end={index === phrases.length - 1 ? '.' : '; '}
        />
      ))}
    </p>
  )
}

interface ReachProps {
  readonly graph: ColumnGraph
  readonly reach: ColumnReach
  readonly word: 'upstream' | 'downstream'
}

/** All columns in one direction, collapsed: the sentences name only the nearest. */
function Reach({ graph, reach, word }: ReachProps) {
  const datasets = byDataset(graph, reach)
  if (datasets.length === 0) return null
  return (
    <details className="reach">
      <summary>
        {counted(reach.columns.size, 'column')} in {counted(datasets.length, 'dataset')} {word}
        {reach.isCut && ', perhaps more beyond'}
      </summary>
      <ul className="plain">
        {datasets.map(({ dataset, direct, indirect }) => (
          <li key={dataset}>
            <NodeLink node={dataset} />
            <ColumnList dataset={dataset} columns={direct} kind="direct" />
            <ColumnList dataset={dataset} columns={indirect} kind="indirect" />
          </li>
        ))}
      </ul>
    </details>
  )
}
