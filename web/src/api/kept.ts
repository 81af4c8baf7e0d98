/** Answers that hold as long as the graph does not change. */
export class Kept<T> {
  readonly #answers = new Map<string, T>()
  #revision = Number.NEGATIVE_INFINITY

  get(subject: string, revision: number): T | undefined {
    return revision === this.#revision ? this.#answers.get(subject) : undefined
  }

  /** Forgets what is of an older graph, and gives the answer back; one that comes late is not kept. */
  keep(subject: string, revision: number, answer: T): T {
    if (revision > this.#revision) this.#answers.clear()
    this.#revision = Math.max(revision, this.#revision)
    if (revision === this.#revision) this.#answers.set(subject, answer)
    return answer
  }
}
