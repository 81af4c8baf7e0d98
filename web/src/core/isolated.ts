/** Text from outside that stands within a line of the page. */

/** Marks of direction, and letters that are written from right to left. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Script=Hebrew}|\p{Script=Arabic}/u
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
