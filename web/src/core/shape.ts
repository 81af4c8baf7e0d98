/** The input and the result of a layout. */

import type { WireEdge } from '../api/types'
import type { Box, Point, Size } from './geometry'
import type { NodeId } from './ids'

export interface Shape {
  readonly boxes: ReadonlyMap<NodeId, Size>
  readonly edges: readonly WireEdge[]
}

export interface Layout {
  readonly boxes: ReadonlyMap<NodeId, Box>
  /** By `edgeKey`: the points that an edge spanning several ranks passes through, two of the same height per rank. */
  readonly bends: ReadonlyMap<string, readonly Point[]>
}

export function edgeKey({ origin, destination }: WireEdge): string {
  return JSON.stringify([origin, destination])
}

/** Equal shapes have equal keys, so a change that does not affect the shape needs no new layout. */
export function shapeKey({ boxes, edges }: Shape): string {
  return JSON.stringify([[...boxes], edges])
}
