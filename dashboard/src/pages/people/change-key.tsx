import { useState } from 'preact/hooks'
import { Rotate } from '../../parts/rotate.tsx'
import { Failure } from '../../parts/states.tsx'
import { type KeyDraft, KeyFields } from './key-fields.tsx'
import { LimitFields, limitsOf, listOf } from './limit-fields.tsx'
import type { Limits, ManagedKey } from './types.ts'
import { useChange } from './use-change.ts'

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
  const rotate = async (overlapSeconds: number) => {
    const reply = await change.send<{ key: string }>('POST', `${path}/rotate`, { overlapSeconds })
    if (reply !== undefined) onSecret(reply.key)
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
        <Rotate onRotate={rotate} />
        <End value={value} send={change.send} />
      </div>
    </form>
  )
}

type Send = ReturnType<typeof useChange>['send']

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
