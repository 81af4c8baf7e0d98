/** What a layout is made from and what it makes. */

import type { WireEdge } from '../api/types'
import type { Box, Point, Size } from './geometry'
import type { NodeId } from './ids'

export interface Shape {
  readonly boxes: ReadonlyMap<NodeId, Size>
  readonly edges: readonly WireEdge[]
}

export interface Layout {
  readonly boxes: ReadonlyMap<NodeId, Box>
  /** By `edgeKey`: where an edge that spans several ranks has to pass, two points level with each other a rank. */
  readonly bends: ReadonlyMap<string, readonly Point[]>
}

export function edgeKey({ origin, destination }: WireEdge): string {
  return JSON.stringify([origin, destination])
}

/** Equal shapes have equal keys, so a change that moves nothing needs no new layout. */
export function shapeKey({ boxes, edges }: Shape): string {
  return JSON.stringify([[...boxes], edges])
}
