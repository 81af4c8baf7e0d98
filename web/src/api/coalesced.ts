/** Runs `work` when called, never concurrently; calls during a run are coalesced into one more run after it. */
export function coalesced(work: () => Promise<void>): () => void {
  let isBusy = false
  let isWanted = false
  const run = async () => {
    isBusy = true
    while (isWanted) {
      isWanted = false
      await work()
    }
    isBusy = false
  }
  return () => {
    isWanted = true
    if (!isBusy) void run()
  }
}
