/** Compares texts by code units: the same on every machine, whatever its locale. */
export function byText<T>(textOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => {
    const [left, right] = [textOf(a), textOf(b)]
    return left < right ? -1 : Number(left > right)
  }
}
