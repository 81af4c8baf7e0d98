/** The beginning of a long text. */

const MAX_CHARACTERS = 600
const MAX_LINES = 9

/** The text itself if it is short, else its beginning, cut at the end of a word or line. */
export function excerptOf(text: string): string {
  const lines = text.split('\n').slice(0, MAX_LINES).join('\n')
  if (lines.length <= MAX_CHARACTERS) return lines
  const cut = lines.slice(0, MAX_CHARACTERS)
  return cut.replace(/\s+\S*$/u, '').replace(/[\ud800-\udbff]$/, '') // no half of a surrogate pair
}
