import type { NodeProps } from '@xyflow/react'
import { memo } from 'react'
import { labelText } from '../../core/labels'
import { fullName } from '../../core/nodeLabels'
import type { Pile } from '../../core/piles'
import { JobIcon, TableIcon } from '../icons'
import { LabelText } from '../LabelText'
import { usePage } from '../page'
import { titleOf } from '../titleOf'
import { useRestoreFocus } from '../useRestoreFocus'
import type { CardNode } from './flow'

export const PileNode = memo(function PileNode({ data: { card } }: NodeProps<CardNode>) {
  const { expandPile } = usePage()
  const { node, label, dim } = card
  useRestoreFocus(() => (node.kind === 'pile' ? titleOf(node.hub) : null))
  if (node.kind !== 'pile') return null
  return (
    <article className="card pile" data-testid="pile" data-node-id={node.id} data-dim={dim}>
      <button
        type="button"
        className="card-title"
        title={fullName(node)}
        aria-label={`${labelText(label)}: ${actionText(node)}`}
        onClick={() => expandPile(node)}
      >
        {node.of === 'job' ? <JobIcon /> : <TableIcon />}
        <span className="card-text">
          <LabelText label={label} />{' '}
          <span className="card-state">
            {node.failed > 0 && <span className="state-dot" data-state="FAILED" />}
            {actionText(node)}
          </span>
        </span>
      </button>
    </article>
  )
})

function actionText({ neighbours, failed, more }: Pile): string {
  const action = more < neighbours ? `show ${more}` : 'show all'
  return failed > 0 ? `${failed} failed, ${action}` : action
}
