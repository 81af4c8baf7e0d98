/** Text from outside that stands within a line of the page. */

/** Letters that are written from right to left. */
const FROM_THE_RIGHT = /\p{Script=Hebrew}|\p{Script=Arabic}/u
/** These, and marks of direction. */
const TURNING = new RegExp(`[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|${FROM_THE_RIGHT.source}`, 'u')
const FIRST_STRONG_ISOLATE = '\u2068'
const POP_ISOLATE = '\u2069'
const ISOLATES = /[\u2066-\u2068]/g

/**
 * The text such that it turns round nothing that stands before or after it; one that could not is given back as it is.
 *
 * Source: Unicode Standard Annex #9, 2.4 Explicit Directional Isolates
 */
export function isolated(text: string): string {
  if (!TURNING.test(text)) return text
  const open = text.replaceAll(POP_ISOLATE, '') // its own would end the isolate
  const depth = 1 + (open.match(ISOLATES)?.length ?? 0)
  return FIRST_STRONG_ISOLATE + open + POP_ISOLATE.repeat(depth)
}

/** A sentence with names within it, of which each turns round nothing but itself. */
export function isolatedNames(sentence: string): string {
  const parts: { text: string; isTurning: boolean }[] = []
  for (const word of sentence.split(' ')) {
    const isTurning = TURNING.test(word)
    const last = parts.at(-1)
    if (last?.isTurning && isTurning)
      last.text += ` ${word}` // of the same name, as far as anybody can tell
    else parts.push({ text: word, isTurning })
  }
  return parts.map(({ text }) => isolated(text)).join(' ')
}

/**
 * Which way a name is read that is drawn in parts: as its first letter is.
 *
 * Source: Unicode Standard Annex #9, rules P2 and P3
 */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const [letter = ''] = text.match(/\p{Letter}/u) ?? []
  return FROM_THE_RIGHT.test(letter) ? 'rtl' : 'ltr'
}
