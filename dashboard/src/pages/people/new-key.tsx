import { useState } from 'preact/hooks'
import { Failure } from '../../parts/states.tsx'
import { type KeyDraft, KeyFields } from './key-fields.tsx'
import { LimitFields, limitsOf, listOf } from './limit-fields.tsx'
import { NewForm } from './list.tsx'
import type { Limits } from './types.ts'
import { useChange } from './use-change.ts'

interface NewKeyProps {
  readonly person: string
  readonly team: string
  readonly onMade: () => void
  readonly onSecret: (key: string) => void
}

/** Form that creates a key for a person. */
export function NewManagedKey({ person, team, onMade, onSecret }: NewKeyProps) {
  const [draft, setDraft] = useState<KeyDraft>({ person, team, name: '', tags: '', expires: '' })
  const [limits, setLimits] = useState<Limits>({})
  const { send, error, isBusy } = useChange(onMade)
  const submit = async (event: Event) => {
    event.preventDefault()
    const made = await send<{ key: string }>('POST', 'keys', {
      personId: draft.person,
      ...(draft.name !== '' && { name: draft.name }),
      ...(draft.team !== '' && { teamId: draft.team }),
      ...(draft.expires !== '' && { expiresAt: `${draft.expires}T00:00:00Z` }),
      tags: listOf(draft.tags) ?? null,
      limits: limitsOf(limits),
    })
    if (made === undefined) return
    setDraft({ ...draft, name: '' })
    onSecret(made.key)
  }
  return (
    <NewForm title="Create a key for a person">
      <form onSubmit={submit}>
        <KeyFields draft={draft} onChange={setDraft} hasPerson />
        <LimitFields value={limits} onChange={setLimits} />
        {error && <Failure error={error} />}
        <button type="submit" class="primary" disabled={isBusy}>
          Create key
        </button>
      </form>
    </NewForm>
  )
}
