import { formatRoute, hasPanel, type Route } from '../core/route'

/** For the keyboard: skips the header and the graph. */
export function SkipLink({ route }: { route: Route }) {
  const [text, target] = hasPanel(route)
    ? ['Skip to the details', '.panel']
    : ['Skip to the content', 'main :is(a[href], button, summary)']
  return (
    <a
      className="skip"
      href={formatRoute(route)} // the current route, since the fragment of the address names the view
      onClick={(event) => {
        event.preventDefault()
        document.querySelector<HTMLElement>(target)?.focus()
      }}
    >
      {text}
    </a>
  )
}
