/** Line icons, drawn on a 16 × 16 grid; hidden from screen readers. */

import type { ReactNode } from 'react'

export function TableIcon() {
  return (
    <Icon>
      <rect x="2" y="3" width="12" height="10" rx="1.5" />
      <path d="M2 6.5h12M6.5 6.5V13" />
    </Icon>
  )
}

export function JobIcon() {
  return (
    <Icon>
      <path d="M2 4.5h5l3 7h4M2 11.5h3M11 4.5h3" />
    </Icon>
  )
}

export function ChevronIcon() {
  return (
    <Icon>
      <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />
    </Icon>
  )
}

export function CloseIcon() {
  return (
    <Icon>
      <path d="m4 4 8 8m0-8-8 8" />
    </Icon>
  )
}

export function SearchIcon() {
  return (
    <Icon>
      <circle cx="7" cy="7" r="4.5" />
      <path d="m10.5 10.5 3.5 3.5" />
    </Icon>
  )
}

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      {children}
    </svg>
  )
}
