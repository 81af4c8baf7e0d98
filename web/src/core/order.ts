/** A comparison by a text's code units: the same on every machine, whatever its language. */
export function byText<T>(textOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => {
    const [left, right] = [textOf(a), textOf(b)]
    return left < right ? -1 : Number(left > right)
  }
}
