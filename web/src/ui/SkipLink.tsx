import { formatRoute, hasPanel, type Route } from '../core/route'

/** For the keyboard: past the header and all that is drawn. */
export function SkipLink({ route }: { route: Route }) {
  const [words, place] = hasPanel(route)
    ? ['Skip to the details', '.panel']
    : ['Skip to the content', 'main :is(a[href], button, summary)']
  return (
    <a
      className="skip"
      href={formatRoute(route)} // where we are: a place of its own in the address would be another view
      onClick={(event) => {
        event.preventDefault()
        document.querySelector<HTMLElement>(place)?.focus()
      }}
    >
      {words}
    </a>
  )
}
