import type { LayoutReply, LayoutRequest } from '../core/layout.worker'
import type { Layout, Shape } from '../core/shape'

export type FindLayout = (shape: Shape) => Promise<Layout>

/** Lays out in a worker: 500 nodes take most of a second, in which the page must still answer. */
export function layoutInWorker(): FindLayout {
  const worker = new Worker(new URL('../core/layout.worker.ts', import.meta.url), { type: 'module' })
  const waiting = new Map<number, (layout: Layout) => void>()
  let asked = 0
  worker.onmessage = ({ data: { number, layout } }: MessageEvent<LayoutReply>) => {
    waiting.get(number)?.(layout)
    waiting.delete(number)
  }
  return (shape) =>
    new Promise((resolve) => {
      asked += 1
      waiting.set(asked, resolve)
      worker.postMessage({ number: asked, shape } satisfies LayoutRequest)
    })
}
