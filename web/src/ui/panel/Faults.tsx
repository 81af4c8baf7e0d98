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

/** Error messages by the id of the part that failed. */
type Messages = ReadonlyMap<string, string>

const SetMessages = createContext<Dispatch<SetStateAction<Messages>>>(() => undefined)

/** Renders parts with the errors that they report above them: equal messages only once. */
export function Faults({ children }: { children: ReactNode }) {
  const [messages, setMessages] = useState<Messages>(new Map())
  return (
    <SetMessages value={setMessages}>
      {[...new Set(messages.values())].map((message) => (
        <p key={message} className="failed" role="alert">
          {message}
        </p>
      ))}
      {children}
    </SetMessages>
  )
}

/** Reports that a part failed to load, to the enclosing `Faults`. */
export function Fault({ message }: { message: string }) {
  const setMessages = use(SetMessages)
  const part = useId()
  useEffect(() => {
    setMessages((messages) => new Map(messages).set(part, message))
    return () => setMessages((messages) => new Map([...messages].filter(([other]) => other !== part)))
  }, [setMessages, part, message])
  return null
}
