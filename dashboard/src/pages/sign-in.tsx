import './sign-in.css'
import { useState } from 'preact/hooks'
import { call } from '../api.ts'
import { Failure } from '../parts/states.tsx'
import type { Route } from '../route.ts'
import { useAttempt } from '../use-attempt.ts'
import { useData } from '../use-data.ts'

/** Ways to sign in: the reply of `/dashboard/api/sign-in`. */
interface Ways {
  /** Name of the identity provider; `null` without one. */
  readonly name: string | null
  /** Session tokens are accepted. */
  readonly tokens: boolean
}

/** Reasons of a failed sign-in, by the last part of the page's address. */
const REASONS: Readonly<Record<string, string>> = {
  denied: 'The identity provider did not sign you in.',
  expired: 'This sign-in was begun too long ago, in another browser, or was used already. Begin again.',
  failed: 'The identity provider’s answer could not be accepted. The gateway’s log has the reason.',
  refused: 'Your account may not sign in here. Ask an operator.',
  suspended: 'Your account is suspended. Ask an operator.',
  unavailable: 'The identity provider cannot be reached at the moment. Try again.',
}

/** Page that signs in: at the identity provider, or with a session token, which the browser stores out of reach of scripts. */
export function SignInPage({ route, onDone }: { route: Route; onDone: () => void }) {
  const { data: ways, error } = useData<Ways>('/dashboard/api/sign-in')
  const reason = route.page === 'sign-in' ? REASONS[route.id] : undefined
  return (
    <main id="main" class="sign-in">
      <h1>
        <span class="mark" aria-hidden="true" /> Turnpike
      </h1>
      {reason !== undefined && <Failure error={new Error(reason)} />}
      {error && <Failure error={error} />}
      {route.page === 'first-operator' && <OperatorLink secret={route.id} />}
      {ways?.name && <ProviderButton name={ways.name} route={route} />}
      {ways?.tokens && <TokenForm onDone={onDone} />}
    </main>
  )
}

function ProviderButton({ name, route }: { name: string; route: Route }) {
  const isDoor = route.page === 'sign-in' || route.page === 'first-operator'
  const back = isDoor ? '/' : `/${location.hash}`
  return (
    <a class="button primary" href={`/sign-in?return=${encodeURIComponent(back)}`}>
      Sign in with {name}
    </a>
  )
}

/** Part of the one-time link that the gateway prints at its start. */
function OperatorLink({ secret }: { secret: string }) {
  const [state, setState] = useState<'open' | 'bound' | Error>('open')
  const bind = () =>
    call('/sign-in/first-operator', { method: 'POST', body: { secret } }).then(
      () => setState('bound'),
      // Safe: `call` throws errors.
      (thrown) => setState(thrown as Error),
    )
  if (state instanceof Error) return <Failure error={state} />
  if (state === 'bound') return <p role="status">The next account that signs in here becomes the operator.</p>
  return (
    <>
      <p>This link makes the first operator of the gateway: the account that signs in next in this browser.</p>
      <button type="button" onClick={bind}>
        Use the link here
      </button>
    </>
  )
}

/** Line ends from pasting, and characters that headers must not hold. */
const NOT_TOKEN = /[^\x21-\x7e]/g

function TokenForm({ onDone }: { onDone: () => void }) {
  const [token, setToken] = useState('')
  const { attempt, error } = useAttempt()
  const submit = (event: Event) => {
    event.preventDefault()
    void attempt(async () => {
      await call('/dashboard/api/session', { method: 'POST', token: token.replaceAll(NOT_TOKEN, '') })
      onDone()
    })
  }
  return (
    <form onSubmit={submit}>
      <label>
        <span>Session token</span>
        <textarea
          rows={4}
          value={token}
          required
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => setToken(currentTarget.value)}
        />
      </label>
      <p class="muted">
        The one that your identity provider gives your signed-in users; in development{' '}
        <code>turnpike session-token --user ada</code>. This browser keeps it until it expires or you sign out.
      </p>
      {error && <Failure error={error} />}
      <button type="submit" class="primary">
        Sign in
      </button>
    </form>
  )
}
