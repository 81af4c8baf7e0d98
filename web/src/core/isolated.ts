/** Isolates text from events within a line of the page, so that right-to-left names do not reorder the rest. */

/** Right-to-left letters. */
const RIGHT_TO_LEFT = /\p{Script=Hebrew}|\p{Script=Arabic}/u
/** Right-to-left letters and directional formatting characters. */
const BIDIRECTIONAL = new RegExp(
  `[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|${RIGHT_TO_LEFT.source}`,
  'u',
)
const FIRST_STRONG_ISOLATE = '\u2068'
const POP_ISOLATE = '\u2069'
const ISOLATES = /[\u2066-\u2068]/g

/**
 * The text in a directional isolate if it has right-to-left letters or formatting characters, else as it is.
 *
 * Source: Unicode Standard Annex #9, 2.4 Explicit Directional Isolates
 */
export function isolated(text: string): string {
  if (!BIDIRECTIONAL.test(text)) return text
  const open = text.replaceAll(POP_ISOLATE, '') // one in the text would end the isolate
  const depth = 1 + (open.match(ISOLATES)?.length ?? 0)
  return FIRST_STRONG_ISOLATE + open + POP_ISOLATE.repeat(depth)
}

/** A sentence with each right-to-left name in it isolated. */
export function isolatedNames(sentence: string): string {
  const parts: { text: string; isBidirectional: boolean }[] = []
  for (const word of sentence.split(' ')) {
    const isBidirectional = BIDIRECTIONAL.test(word)
    const last = parts.at(-1)
    if (last?.isBidirectional && isBidirectional)
      last.text += ` ${word}` // taken as one name of several words
    else parts.push({ text: word, isBidirectional })
  }
  return parts.map(({ text }) => isolated(text)).join(' ')
}

/**
 * The direction of a name that is rendered in parts: that of its first letter.
 *
 * Source: Unicode Standard Annex #9, rules P2 and P3
 */
export function directionOf(text: string): 'ltr' | 'rtl' {
  const [letter = ''] = text.match(/\p{Letter}/u) ?? []
  return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr'
}
