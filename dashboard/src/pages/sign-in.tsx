import './sign-in.css'
import { useState } from 'preact/hooks'
import { call } from '../api.ts'
import { Failure } from '../parts/states.tsx'

/** Line ends from pasting, and characters that headers must not hold. */
const NOT_TOKEN = /[^\x21-\x7e]/g

/** Page that signs in with a session token, in cloud mode. The browser stores it out of reach of scripts. */
export function SignInPage({ onDone }: { onDone: () => void }) {
  const [token, setToken] = useState('')
  const [error, setError] = useState<Error>()
  const submit = async (event: Event) => {
    event.preventDefault()
    try {
      await call('/dashboard/api/session', { method: 'POST', token: token.replaceAll(NOT_TOKEN, '') })
      onDone()
    } catch (thrown) {
      // Safe: `call` throws errors.
      setError(thrown as Error)
    }
  }
  return (
    <main id="main" class="sign-in">
      <h1>
        <span class="mark" aria-hidden="true" /> Turnpike
      </h1>
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
    </main>
  )
}
