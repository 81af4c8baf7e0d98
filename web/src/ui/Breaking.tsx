/** Whether something breaks; null if unknown. */
export function Breaking({ breaking }: { breaking: boolean | null }) {
  const [mark, words] =
    breaking === null
      ? (['odd', 'may break'] as const)
      : breaking
        ? (['bad', 'breaking'] as const)
        : (['good', 'not breaking'] as const)
  return (
    <span className="badge" data-mark={mark}>
      {words}
    </span>
  )
}
