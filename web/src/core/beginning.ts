/** The beginning of a text that is too long to be shown at once. */

const MOST_CHARACTERS = 600
const MOST_LINES = 9

/** The text itself, if it is short; else as much of it as is looked at anyway, up to the end of a word or line. */
export function beginningOf(text: string): string {
  const lines = text.split('\n').slice(0, MOST_LINES).join('\n')
  if (lines.length <= MOST_CHARACTERS) return lines
  const cut = lines.slice(0, MOST_CHARACTERS)
  return cut.replace(/\s+\S*$/u, '').replace(/[\ud800-\udbff]$/, '') // no half of a character
}
