/** As many times as long as the last call took, the next waits: what is busy is left most of its time. */
const REST = 4

/** Calls `work` with all that came within `ms`, one call at a time; what comes meanwhile waits for the next. */
export function gathered<T>(ms: number, work: (items: readonly T[]) => Promise<void>): (item: T) => void {
  let waiting: T[] = []
  let busy = false
  const run = async () => {
    const items = waiting
    waiting = []
    const began = Date.now()
    await work(items)
    if (waiting.length > 0) setTimeout(run, Math.max(ms, REST * (Date.now() - began)))
    else busy = false
  }
  return (item) => {
    waiting.push(item)
    if (busy) return
    busy = true
    setTimeout(run, ms)
  }
}
