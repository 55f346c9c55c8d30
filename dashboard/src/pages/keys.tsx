import './keys.css'
import { useState } from 'preact/hooks'
import { call } from '../api.ts'
import { moment, visible } from '../format.ts'
import { ClientLines } from '../parts/client-lines.tsx'
import { TextField } from '../parts/fields.tsx'
import { KeyDates, KeyState } from '../parts/key-state.tsx'
import { PipelineEditor } from '../parts/pipeline-editor.tsx'
import { Rotate } from '../parts/rotate.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { useSession } from '../session.tsx'
import { useAttempt } from '../use-attempt.ts'
import { useData } from '../use-data.ts'

interface Key {
  readonly id: string
  readonly prefix: string
  readonly name?: string
  readonly pipelineConfig: string | null
  readonly limits?: Readonly<Record<string, number | readonly string[]>>
  readonly createdAt: string
  readonly expiresAt?: string
  readonly suspendedAt?: string
  readonly previousUntil?: string
  readonly lastUsedAt: string | null
  readonly revokedAt: string | null
}

/** Page of the account's keys; in local mode a note that none are needed. */
export function KeysPage() {
  const { mode } = useSession()
  if (mode === 'cloud') return <CloudKeys />
  return (
    <>
      <div class="page-head">
        <h1>Keys</h1>
      </div>
      <Empty title="Local mode needs none">
        <p>
          Any word is accepted as a key, and each is a scope of its own: its cached answers, its caps and its receipts
          are no other’s. Keys that are made, limited and revoked come with cloud mode (<code>SVC_MODE=cloud</code>).
        </p>
        <ClientLines apiKey="any" />
      </Empty>
    </>
  )
}

function CloudKeys() {
  const { data, error, isBusy, reload } = useData<{ keys: Key[] }>('/v1/keys')
  const [fresh, setFresh] = useState<{ title: string; secret: string }>()
  const keys = data?.keys ?? []
  const show = (title: string) => (secret: string) => {
    setFresh({ title, secret })
    scrollTo(0, 0)
    reload()
  }
  return (
    <>
      <div class="page-head">
        <h1>Keys</h1>
      </div>
      {fresh !== undefined && (
        <section class="fresh-key" aria-labelledby="fresh">
          <h2 id="fresh">{fresh.title}</h2>
          <p>It is shown only once. Store it as a secret.</p>
          <ClientLines apiKey={fresh.secret} />
          <button type="button" onClick={() => setFresh(undefined)}>
            Done
          </button>
        </section>
      )}
      <NewKey onMade={show('Your new key')} />
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what="keys" />}
      {data !== undefined && keys.length === 0 && <Empty title="No keys yet" />}
      {keys.map((key) => (
        <KeyPart key={key.id} value={key} onChanged={reload} onSecret={show('The new secret')} />
      ))}
    </>
  )
}

function NewKey({ onMade }: { onMade: (key: string) => void }) {
  const [name, setName] = useState('')
  const { attempt, error } = useAttempt()
  const submit = (event: Event) => {
    event.preventDefault()
    void attempt(async () => {
      const { key } = await call<{ key: string }>('/v1/keys', { method: 'POST', body: name === '' ? {} : { name } })
      setName('')
      onMade(key)
    })
  }
  return (
    <form onSubmit={submit}>
      <div class="filters">
        <TextField
          class="search"
          label="Name of a new key"
          value={name}
          maxLength={120}
          placeholder="laptop, build server …"
          onText={setName}
        />
        <button type="submit" class="primary">
          Create key
        </button>
      </div>
      {error && <Failure error={error} />}
    </form>
  )
}

interface KeyPartProps {
  readonly value: Key
  readonly onChanged: () => void
  readonly onSecret: (secret: string) => void
}

function KeyPart({ value, onChanged, onSecret }: KeyPartProps) {
  const { id, prefix, name, pipelineConfig, lastUsedAt, revokedAt, createdAt, expiresAt, limits } = value
  return (
    <details class="key">
      <summary>
        <strong>{name === undefined ? 'unnamed' : visible(name)}</strong> <code>{prefix}…</code> <KeyState {...value} />{' '}
        <span class="muted">
          made {moment(Date.parse(createdAt))},{' '}
          {lastUsedAt === null ? 'not used yet' : `last used ${moment(Date.parse(lastUsedAt))}`}
          {expiresAt !== undefined && `, expires ${moment(Date.parse(expiresAt))}`}
        </span>
      </summary>
      <p class="muted">
        Id <code>{id}</code>. <KeyDates {...value} /> Pipeline: <code>{pipelineConfig ?? 'the operator’s'}</code>.{' '}
        {limits === undefined ? 'No own limits.' : `Limits: ${visible(JSON.stringify(limits))}`}
      </p>
      {revokedAt === null && <ChangeKey value={value} onChanged={onChanged} onSecret={onSecret} />}
    </details>
  )
}

const LIMITS = [
  ['costPerRequest', 'Limit per request (USD)'],
  ['costPerDay', 'Daily limit (USD)'],
  ['costPerMonth', 'Monthly limit (USD)'],
  ['costPerConversation', 'Limit per conversation (USD)'],
  ['costPerRun', 'Limit per run (USD)'],
  ['requestsPerMinute', 'Requests per minute'],
] as const

function ChangeKey({ value, onChanged, onSecret }: KeyPartProps) {
  const { plugins } = useSession()
  const { id, name = '' } = value
  const [draft, setDraft] = useState({ name, pipeline: value.pipelineConfig ?? '' })
  const [limits, setLimits] = useState<Readonly<Record<string, number | readonly string[]>>>(value.limits ?? {})
  const [isConfirming, setConfirming] = useState(false)
  const { attempt, error } = useAttempt()
  const send = (method: string, body?: object) =>
    attempt(async () => {
      await call(`/v1/keys/${id}`, { method, body })
      onChanged()
    })
  const rotate = (overlapSeconds: number) =>
    attempt(async () => {
      const { key } = await call<{ key: string }>(`/v1/keys/${id}/rotate`, { method: 'POST', body: { overlapSeconds } })
      onSecret(key)
    })
  const save = (event: Event) => {
    event.preventDefault()
    const pipelineConfig = draft.pipeline.trim() === '' ? null : draft.pipeline
    void send('PATCH', { name: draft.name, pipelineConfig, limits: Object.keys(limits).length === 0 ? null : limits })
  }
  const setLimit = (limit: string, amount: number) =>
    setLimits(({ [limit]: _, ...rest }) => (Number.isNaN(amount) ? rest : { ...rest, [limit]: amount }))
  return (
    <form onSubmit={save}>
      <TextField
        label="Name"
        value={draft.name}
        maxLength={120}
        onText={(value) => setDraft({ ...draft, name: value })}
      />
      <PipelineEditor
        label="Pipeline; empty for the operator’s default"
        value={draft.pipeline}
        modules={plugins}
        onChange={(pipeline) => setDraft({ ...draft, pipeline })}
      />
      <div class="numbers">
        {LIMITS.map(([limit, title]) => (
          <label key={limit}>
            <span>{title}</span>
            <input
              type="number"
              min={limit === 'requestsPerMinute' ? 1 : 0}
              step="any"
              placeholder="no limit"
              value={Number.isFinite(limits[limit]) ? String(limits[limit]) : ''}
              onInput={({ currentTarget }) => setLimit(limit, currentTarget.valueAsNumber)}
            />
          </label>
        ))}
      </div>
      {error && <Failure error={error} />}
      <div class="bar">
        <button type="submit" class="primary">
          Save
        </button>
        <Rotate onRotate={rotate} />
        {isConfirming ? (
          <>
            <span>Its next request will be refused. Revoke permanently?</span>
            <button type="button" class="danger" onClick={() => send('DELETE')}>
              Revoke it
            </button>
            <button type="button" class="quiet" onClick={() => setConfirming(false)}>
              Cancel
            </button>
          </>
        ) : (
          <button type="button" class="danger" onClick={() => setConfirming(true)}>
            Revoke…
          </button>
        )}
      </div>
    </form>
  )
}
