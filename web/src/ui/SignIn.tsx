import { type FormEvent, type ReactNode, useSyncExternalStore } from 'react'
import type { Session } from '../api/session'

interface RequireSignInProps {
  readonly session: Session
  readonly children: ReactNode
}

/** The page, or the sign-in form if the service requires a token. */
export function RequireSignIn({ session, children }: RequireSignInProps) {
  const state = useSyncExternalStore(session.subscribe, session.authState)
  return state === 'ok' ? children : <SignIn isRejected={state === 'rejected'} signIn={session.signIn} />
}

interface SignInProps {
  readonly isRejected: boolean
  readonly signIn: (token: string) => void
}

function SignIn({ isRejected, signIn }: SignInProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const token = new FormData(event.currentTarget).get('token')
    if (typeof token === 'string' && token.trim()) signIn(token)
  }
  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <h1>Headwater</h1>
        <p>This service requires you to sign in.</p>
        <label>
          API key or token
          <input name="token" type="password" autoComplete="off" spellCheck={false} required />
        </label>
        {isRejected && <p role="alert">That key or token is unknown, or has expired.</p>}
        <button type="submit">Sign in</button>
        <p className="muted">It is stored until this tab is closed.</p>
      </form>
    </main>
  )
}
