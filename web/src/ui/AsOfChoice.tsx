import { type FormEvent, useId } from 'react'
import { localTime, ofLocalTime } from '../core/asOf'
import { usePage } from './page'
import { Time } from './Time'

/** Shows the time that the page is as of, with a form to choose another. */
export function AsOfChoice() {
  const { asOf, showAsOf } = usePage()
  const form = useId()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const local = new FormData(event.currentTarget).get('local')
    const chosen = typeof local === 'string' ? ofLocalTime(local) : undefined
    if (chosen !== undefined) showAsOf(chosen)
  }
  return (
    <div className="as-of" data-past={asOf !== undefined}>
      <button type="button" popoverTarget={form}>
        as of {asOf === undefined ? 'now' : <Time at={asOf} />}
      </button>
      <form id={form} popover="auto" onSubmit={submit}>
        <label>
          Show everything as of
          <input
            name="local"
            type="datetime-local"
            step="1"
            required
            defaultValue={localTime(asOf ?? new Date().toISOString())}
          />
        </label>
        <p className="muted">Event times, in your time zone.</p>
        <button type="submit">Show</button>
        {asOf !== undefined && (
          <button type="button" onClick={() => showAsOf(undefined)}>
            Back to now
          </button>
        )}
      </form>
    </div>
  )
}
