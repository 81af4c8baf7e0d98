/** The time that the page shows, as in the address: `?asOf=2026-05-22T12:00:00.000Z`; without one it shows now. */

/** The parameter as it is, or milliseconds since 1970 as an ISO time. An invalid time is left to the service to report. */
export function parseAsOf(search: string): string | undefined {
  const text = new URLSearchParams(search).get('asOf') || undefined
  const time = text !== undefined && MILLISECONDS.test(text) ? new Date(Number(text)) : undefined
  return time === undefined || Number.isNaN(time.getTime()) ? text : time.toISOString()
}

/** 14 digits reach beyond the year 5000. */
const MILLISECONDS = /^\d{1,14}$/

export function formatAsOf(asOf: string | undefined): string {
  return asOf === undefined ? '' : `?${new URLSearchParams({ asOf })}`
}

/** The value of a `datetime-local` field, to the second: `2026-05-22T14:00:00`; empty for an invalid time. */
export function localTime(time: string): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

/** The UTC time for the value of a `datetime-local` field; undefined if it is invalid. */
export function ofLocalTime(local: string): string | undefined {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
