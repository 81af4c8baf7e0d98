/** Formats numbers and times for readers. */

const COUNT = new Intl.NumberFormat('en')

export function formatCount(count: number): string {
  return COUNT.format(count)
}

/** `840 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`, `9 d 4 h` */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 59_950) return `${(milliseconds / 1_000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1_000)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 2_880) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  const hours = Math.round(minutes / 60)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `512 B`, `1.5 kB`, `24 MB`; a kB is 1,000 bytes. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), 5)
  const scaled = bytes / 1_000 ** power
  return `${scaled < 10 ? scaled.toFixed(1) : Math.round(scaled)} ${['', 'k', 'M', 'G', 'T', 'P'][power]}B`
}

/** In the reader's time zone, which is named so that the text is clear to others; without the date if it is today. */
export function formatTime(time: string, now: Date): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return time
  const clock = at.toLocaleTimeString('en-GB', { timeStyle: 'long' })
  if (at.toDateString() === now.toDateString()) return clock
  return `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })} ${clock}`
}
