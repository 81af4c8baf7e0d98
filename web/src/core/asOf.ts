/** The time that the page shows, as the address keeps it: `?asOf=2026-05-22T12:00:00.000Z`; without one it shows now. */

/** As the address says it, milliseconds since 1970 as a time; else unread: the service tells what is wrong with it. */
export function parseAsOf(search: string): string | undefined {
  const said = new URLSearchParams(search).get('asOf') || undefined
  const time = said !== undefined && MILLISECONDS.test(said) ? new Date(Number(said)) : undefined
  return time === undefined || Number.isNaN(time.getTime()) ? said : time.toISOString()
}

/** Longer ones lie beyond the year 5000. */
const MILLISECONDS = /^\d{1,14}$/

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
