import './sessions.css'
import { useState } from 'preact/hooks'
import { call } from '../api.ts'
import { moment, visible } from '../format.ts'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { useSession } from '../session.tsx'
import { useData } from '../use-data.ts'

interface Listed {
  readonly id: string
  readonly kind: 'browser' | 'command'
  readonly client: string
  readonly createdAt: string
  readonly lastSeenAt: string
  readonly expiresAt: string
  readonly isCurrent: boolean
}

/** Tokens of browsers in user agents. The order matters: most user agents also contain the tokens of other browsers. */
const BROWSERS: readonly (readonly [token: RegExp, name: string])[] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const SYSTEM = /Windows|Android|iPhone|iPad|Macintosh|Linux/

/** Returns browser and operating system for a browser's user agent; any other client name unchanged. */
function nameOf(client: string): string {
  const browser = client.startsWith('Mozilla/') ? BROWSERS.find(([token]) => token.test(client)) : undefined
  if (browser === undefined) return client
  const [system] = SYSTEM.exec(client) ?? []
  return system === undefined ? browser[1] : `${browser[1]} on ${system}`
}

/** Page of the user's sessions; a note where the identity provider keeps them. */
export function SessionsPage() {
  const { has } = useSession()
  if (has.sessions) return <OwnSessions />
  return (
    <>
      <div class="page-head">
        <h1>Your sessions</h1>
      </div>
      <Empty title="No sessions here">
        <p>This gateway accepts tokens of another issuer, which keeps the sessions.</p>
      </Empty>
    </>
  )
}

/** Browsers and command lines that are signed in. */
function OwnSessions() {
  const { data, error, isBusy, reload } = useData<{ sessions: readonly Listed[] }>('/v1/sessions')
  const [failure, setFailure] = useState<Error>()
  const end = (id: string) =>
    call(`/v1/sessions/${id}`, { method: 'DELETE' })
      // Safe: `call` throws errors.
      .then(reload, (thrown) => setFailure(thrown as Error))
  return (
    <>
      <div class="page-head">
        <h1>Your sessions</h1>
      </div>
      {error && <Failure error={error} onRetry={reload} />}
      {failure && <Failure error={failure} />}
      {data === undefined && isBusy && <Busy what="sessions" />}
      {data?.sessions.length === 0 && <Empty title="No sessions" />}
      <ul class="sessions">
        {data?.sessions.map(({ id, kind, client, createdAt, lastSeenAt, expiresAt, isCurrent }) => (
          <li key={id}>
            <strong title={visible(client)}>{visible(nameOf(client))}</strong>{' '}
            <span class="badge">{isCurrent ? 'this one' : kind === 'command' ? 'command line' : 'browser'}</span>
            <p class="muted">
              Since {moment(Date.parse(createdAt))}, last used {moment(Date.parse(lastSeenAt))}, until{' '}
              {moment(Date.parse(expiresAt))}
            </p>
            {!isCurrent && (
              <button type="button" class="quiet small" onClick={() => end(id)}>
                End this session
              </button>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}
