/** Does `work` when called; called while it is at it, it does it once more after that: the first is not lost. */
export function oneByOne(work: () => Promise<void>): () => void {
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
