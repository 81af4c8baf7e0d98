import { type KeyboardEvent, useId, useRef, useState } from 'react'
import type { NodeId } from '../../core/ids'
import type { Hit } from '../../core/search'
import { SearchIcon } from '../icons'
import { usePage } from '../page'
import { useKey } from '../useKeys'
import { Results } from './Results'
import { useHits } from './useHits'

/** Search as you type for jobs and datasets; arrows choose, Enter opens, Escape closes the list, `/` focuses the field. */
export function Search() {
  const { openNode } = usePage()
  const [text, setText] = useState('')
  const [isOpen, setIsOpen] = useState(false)
  const [chosen, setChosen] = useState(0)
  const field = useRef<HTMLInputElement>(null)
  const { hits, answer } = useHits(text)
  const list = useId()

  useKey('/', (event) => {
    event.preventDefault()
    field.current?.focus()
    field.current?.select()
  })
  const take = (node: NodeId) => {
    setText('')
    setIsOpen(false)
    field.current?.blur()
    openNode(node)
  }
  const isShowing = isOpen && text.trim() !== ''
  const isListed = isShowing && hits.length > 0
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const hit: Hit | undefined = hits[chosen]
    if (step !== undefined && isShowing) setChosen(Math.max(0, Math.min(hits.length - 1, chosen + step)))
    else if (step !== undefined) setIsOpen(true)
    else if (event.key === 'Enter' && hit) take(hit.nodeId)
    else if (event.key === 'Escape' && isShowing) setIsOpen(false)
    else return
    event.preventDefault()
  }
  return (
    <search className="search">
      <SearchIcon />
      <input
        ref={field}
        type="search"
        role="combobox"
        aria-label="Search jobs, datasets"
        aria-autocomplete="list"
        aria-expanded={isListed}
        aria-controls={isListed ? list : undefined}
        aria-activedescendant={isListed && hits[chosen] ? `${list}-${chosen}` : undefined}
        placeholder="Search jobs, datasets"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
          setIsOpen(true)
        }}
        onFocus={() => setIsOpen(true)}
        onBlur={() => setIsOpen(false)}
        onKeyDown={press}
      />
      <span className="key-hint" aria-hidden="true">
        /
      </span>
      {isShowing && <Results id={list} hits={hits} answer={answer} chosen={chosen} onTake={take} />}
    </search>
  )
}
