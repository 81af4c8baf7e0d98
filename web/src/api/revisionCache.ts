/** A cache of answers for the newest revision of the graph. */
export class RevisionCache<T> {
  readonly #answers = new Map<string, T>()
  #revision = Number.NEGATIVE_INFINITY

  get(subject: string, revision: number): T | undefined {
    return revision === this.#revision ? this.#answers.get(subject) : undefined
  }

  /** Stores an answer and returns it; drops answers of older revisions, and does not store one that is outdated itself. */
  put(subject: string, revision: number, answer: T): T {
    if (revision > this.#revision) this.#answers.clear()
    this.#revision = Math.max(revision, this.#revision)
    if (revision === this.#revision) this.#answers.set(subject, answer)
    return answer
  }
}
