import './sign-in.css'
import { useState } from 'preact/hooks'
import { call } from '../api.ts'
import { Failure } from '../parts/states.tsx'

/** Line ends of what was pasted, and what no header may hold. */
const NOT_TOKEN = /[^\x21-\x7e]/g

/** Cloud mode: a session token opens the dashboard. The browser keeps it where no script can read it. */
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
        <p class="told">
          The one that your identity provider gives your signed-in users; in development{' '}
          <code>turnpike session-token --user ada</code>. It stays in this browser until it expires or you sign out.
        </p>
        {error && <Failure error={error} />}
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </main>
  )
}
