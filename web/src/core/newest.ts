/** When anything that bears on a node was last touched. */

import type { Flow } from './graph'
import type { NodeId } from './ids'
import { reachable } from './walk'

/** The newest revision of the node, what it is made from and what is made from it; 0 if none was ever touched. */
export function newestAround(
  { sources, targets }: Flow<unknown>,
  touched: ReadonlyMap<NodeId, number>,
  start: NodeId,
): number {
  let newest = 0
  for (const neighbours of [sources, targets]) {
    for (const node of reachable(start, (each) => neighbours.get(each) ?? [])) {
      newest = Math.max(newest, touched.get(node) ?? 0)
    }
  }
  return newest
}
