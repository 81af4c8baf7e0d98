/** Indents JSON, with a line for each member; changes only white space. */

const PART = /"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Works on tokens without parsing them: a parser could change numbers and drop duplicate keys. */
export function indented(json: string): string {
  const parts = json.match(PART) ?? []
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  const written = parts.map((part, place) => {
    switch (part) {
      case '{':
      case '[':
        if (isEnd(parts[place + 1])) return part
        depth += 1
        return part + line()
      case '}':
      case ']':
        if (isBegin(parts[place - 1])) return part
        depth -= 1
        return line() + part
      case ',':
        return part + line()
      case ':':
        return ': '
      default:
        return part
    }
  })
  return written.join('')
}

function isBegin(part: string | undefined): boolean {
  return part === '{' || part === '['
}

function isEnd(part: string | undefined): boolean {
  return part === '}' || part === ']'
}
