import { Fragment } from 'react'
import { isolated } from '../core/isolated'
import { nameParts } from '../core/labels'

/** A name that wraps after its separators first. */
export function Name({ text }: { text: string }) {
  let end = 0
  return nameParts(isolated(text)).map((part) => {
    const begin = end
    end += part.length
    return (
      <Fragment key={begin}>
        {begin > 0 && <wbr />}
        {part}
      </Fragment>
    )
  })
}
