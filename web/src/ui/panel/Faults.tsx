import {
  createContext,
  type Dispatch,
  type ReactNode,
  type SetStateAction,
  use,
  useEffect,
  useId,
  useState,
} from 'react'

/** Which part says what. */
type Told = ReadonlyMap<string, string>

const Tell = createContext<Dispatch<SetStateAction<Told>>>(() => undefined)

/** Parts, and above them why some have no answer: each sentence once, however many say it. */
export function Faults({ children }: { children: ReactNode }) {
  const [told, tell] = useState<Told>(new Map())
  return (
    <Tell value={tell}>
      {[...new Set(told.values())].map((message) => (
        <p key={message} className="failed" role="alert">
          {message}
        </p>
      ))}
      {children}
    </Tell>
  )
}

/** Why a part has no answer, told where all of them are. */
export function Fault({ message }: { message: string }) {
  const tell = use(Tell)
  const part = useId()
  useEffect(() => {
    tell((told) => new Map(told).set(part, message))
    return () => tell((told) => new Map([...told].filter(([other]) => other !== part)))
  }, [tell, part, message])
  return null
}
