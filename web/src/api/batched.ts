/** The next call waits this many times the duration of the last one, so that a busy service is not overloaded. */
const BACK_OFF = 4

/** Batches items that arrive within `ms` and calls `work` with them, one call at a time; later items wait for the next. */
export function batched<T>(ms: number, work: (items: readonly T[]) => Promise<void>): (item: T) => void {
  let waiting: T[] = []
  let busy = false
  const run = async () => {
    const items = waiting
    waiting = []
    const began = Date.now()
    await work(items)
    if (waiting.length > 0) setTimeout(run, Math.max(ms, BACK_OFF * (Date.now() - began)))
    else busy = false
  }
  return (item) => {
    waiting.push(item)
    if (busy) return
    busy = true
    setTimeout(run, ms)
  }
}
