import type { Named } from '../../core/ids'
import { shellWord } from '../../core/shell'

interface ProofAnswerProps {
  readonly dataset: Named
  readonly column: string | undefined
}

/** The commands that prove what a dataset or column is made from. */
export function ProofAnswer({ dataset: { namespace, name }, column }: ProofAnswerProps) {
  const ofColumn = column === undefined ? '' : ` --column ${shellWord(column)}`
  return (
    <>
      <p>
        Where the service runs, this writes the events that tell what it is made from, with the nodes’
        signatures and the log’s proofs, to one file:
      </p>
      <pre className="command">
        headwater audit export --dataset {shellWord(namespace)} {shellWord(name)} --upstream -o proof.zip
      </pre>
      <p>Anybody can check the file, without the service:</p>
      <pre className="command">headwater audit verify proof.zip{ofColumn}</pre>
    </>
  )
}
