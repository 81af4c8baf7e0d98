/** The time that the page shows, as the address keeps it: `?asOf=2026-05-22T12:00:00.000Z`; without one it shows now. */

/** As the address says it, unread: the service tells what is wrong with it. */
export function parseAsOf(search: string): string | undefined {
  return new URLSearchParams(search).get('asOf') || undefined
}

export function formatAsOf(asOf: string | undefined): string {
  return asOf === undefined ? '' : `?${new URLSearchParams({ asOf })}`
}

/** As a field for a local time takes it, to the second: `2026-05-22T14:00:00`; nothing for what is no time. */
export function localTime(time: string): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

/** What a field for a local time holds, as a time that means the same anywhere. */
export function ofLocalTime(local: string): string | undefined {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
