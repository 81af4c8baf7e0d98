/** Calls `work` with all that came within `ms`, one call at a time; what comes meanwhile waits for the next. */
export function gathered<T>(ms: number, work: (items: readonly T[]) => Promise<void>): (item: T) => void {
  let waiting: T[] = []
  let busy = false
  const run = async () => {
    const items = waiting
    waiting = []
    await work(items)
    if (waiting.length > 0) setTimeout(run, ms)
    else busy = false
  }
  return (item) => {
    waiting.push(item)
    if (busy) return
    busy = true
    setTimeout(run, ms)
  }
}
