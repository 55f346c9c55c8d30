import { useState } from 'preact/hooks'
import { Failure } from '../../parts/states.tsx'
import { type KeyDraft, KeyFields } from './key-fields.tsx'
import { LimitFields, limitsOf, listOf } from './limit-fields.tsx'
import type { Limits, ManagedKey } from './types.ts'
import { useChange } from './use-change.ts'

const OVERLAPS = [
  [0, 'at once'],
  [3600, 'in an hour'],
  [86_400, 'in a day'],
  [604_800, 'in a week'],
] as const

interface ChangeProps {
  readonly value: ManagedKey
  readonly onChanged: () => void
  readonly onSecret: (key: string) => void
}

/** Form of a key: its fields, a new secret, and its end. */
export function ChangeManagedKey({ value, onChanged, onSecret }: ChangeProps) {
  const [draft, setDraft] = useState<KeyDraft>({
    person: value.personId,
    name: value.name ?? '',
    team: value.teamId ?? '',
    tags: (value.tags ?? []).join(', '),
    expires: value.expiresAt?.slice(0, 10) ?? '',
  })
  const [limits, setLimits] = useState<Limits>(value.limits ?? {})
  const change = useChange(onChanged)
  const path = `keys/${value.id}`
  const save = (event: Event) => {
    event.preventDefault()
    void change.send('PATCH', path, {
      name: draft.name,
      limits: limitsOf(limits),
      tags: listOf(draft.tags) ?? null,
      // Left out unless changed: only an operator may take a key out of a team, and a day is less exact than the moment.
      ...(draft.team !== (value.teamId ?? '') && { teamId: draft.team || null }),
      ...(draft.expires !== (value.expiresAt?.slice(0, 10) ?? '') && {
        expiresAt: draft.expires === '' ? null : `${draft.expires}T00:00:00Z`,
      }),
    })
  }
  return (
    <form onSubmit={save}>
      <KeyFields draft={draft} onChange={setDraft} />
      <LimitFields value={limits} onChange={setLimits} />
      {change.error && <Failure error={change.error} />}
      <div class="bar">
        <button type="submit" class="primary" disabled={change.isBusy}>
          Save
        </button>
        <Rotate {...{ path, onSecret }} send={change.send} />
        <End value={value} send={change.send} />
      </div>
    </form>
  )
}

type Send = ReturnType<typeof useChange>['send']

function Rotate({ path, onSecret, send }: { path: string; onSecret: (key: string) => void; send: Send }) {
  const [overlapSeconds, setOverlap] = useState(3600)
  const rotate = async () => {
    const reply = await send<{ key: string }>('POST', `${path}/rotate`, { overlapSeconds })
    if (reply !== undefined) onSecret(reply.key)
  }
  return (
    <>
      <button type="button" onClick={rotate}>
        New secret
      </button>
      <select
        aria-label="End of the secret before"
        value={String(overlapSeconds)}
        onChange={({ currentTarget }) => setOverlap(Number(currentTarget.value))}
      >
        {OVERLAPS.map(([seconds, title]) => (
          <option key={seconds} value={String(seconds)}>
            the old one ends {title}
          </option>
        ))}
      </select>
    </>
  )
}

function End({ value: { id, suspendedAt }, send }: { value: ManagedKey; send: Send }) {
  const [isConfirming, setConfirming] = useState(false)
  const action = suspendedAt === undefined ? 'suspend' : 'resume'
  return (
    <>
      <button type="button" onClick={() => send('POST', `keys/${id}/${action}`)}>
        {action === 'suspend' ? 'Suspend' : 'Resume'}
      </button>
      {isConfirming ? (
        <button type="button" class="danger" onClick={() => send('DELETE', `keys/${id}`)}>
          Revoke permanently
        </button>
      ) : (
        <button type="button" class="danger" onClick={() => setConfirming(true)}>
          Revoke…
        </button>
      )}
    </>
  )
}
