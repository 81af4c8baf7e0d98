/** The revision of a node's lineage. */

import type { Flow } from './flow'
import type { NodeId } from './ids'
import { reachable } from './walk'

/** The newest revision of the node and everything upstream and downstream of it; 0 if no event touched any. */
export function lineageRevisionOf(
  { sources, targets }: Flow<unknown>,
  nodeRevisions: ReadonlyMap<NodeId, number>,
  start: NodeId,
): number {
  let newest = 0
  for (const neighbours of [sources, targets]) {
    for (const node of reachable(start, (each) => neighbours.get(each) ?? [])) {
      newest = Math.max(newest, nodeRevisions.get(node) ?? 0)
    }
  }
  return newest
}
