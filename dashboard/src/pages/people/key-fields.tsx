import { visible } from '../../format.ts'
import { TextField } from '../../parts/fields.tsx'
import { useData } from '../../use-data.ts'
import type { ListReply, Person, Team } from './types.ts'

/** Fields of a key, as typed. */
export interface KeyDraft {
  readonly person: string
  readonly name: string
  readonly team: string
  readonly tags: string
  /** A day of UTC; empty for none. */
  readonly expires: string
}

interface KeyFieldsProps {
  readonly draft: KeyDraft
  readonly onChange: (draft: KeyDraft) => void
  /** Shows the person, whom only a new key can be given. */
  readonly hasPerson?: boolean
}

/** Inputs of a key's name, owner, team, tags and expiry. */
export function KeyFields({ draft, onChange, hasPerson = false }: KeyFieldsProps) {
  const { data: teams } = useData<ListReply<Team>>('/v1/admin/teams?limit=500')
  const open = teams?.data.filter(({ id, archivedAt }) => archivedAt === null || id === draft.team) ?? []
  const set = (name: keyof KeyDraft, value: string) => onChange({ ...draft, [name]: value })
  return (
    <div class="numbers">
      {hasPerson && <PersonInput value={draft.person} onInput={(person) => set('person', person)} />}
      <TextField label="Name of the key" value={draft.name} maxLength={120} onText={(value) => set('name', value)} />
      <label>
        <span>Team</span>
        <select value={draft.team} onChange={({ currentTarget }) => set('team', currentTarget.value)}>
          <option value="">none</option>
          {open.map(({ id, name }) => (
            <option key={id} value={id}>
              {visible(name)}
            </option>
          ))}
        </select>
      </label>
      <TextField label="Tags, separated by commas" value={draft.tags} onText={(value) => set('tags', value)} />
      <TextField label="Expires on (UTC)" type="date" value={draft.expires} onText={(value) => set('expires', value)} />
    </div>
  )
}

/** Input of a person's id, with suggestions. */
export function PersonInput({ value, onInput }: { value: string; onInput: (id: string) => void }) {
  const { data } = useData<ListReply<Person>>('/v1/admin/people?limit=500')
  return (
    <label>
      <span>Id of the person</span>
      <input
        required
        value={value}
        list="people-suggested"
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <datalist id="people-suggested">
        {data?.data.map(({ id, name }) => (
          <option key={id} value={id}>
            {visible(name ?? id)}
          </option>
        ))}
      </datalist>
    </label>
  )
}
