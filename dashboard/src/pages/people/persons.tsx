import { useState } from 'preact/hooks'
import { visible } from '../../format.ts'
import { TextField } from '../../parts/fields.tsx'
import { Failure } from '../../parts/states.tsx'
import { useSession } from '../../session.tsx'
import { LimitFields, limitsOf } from './limit-fields.tsx'
import { NewForm, SubjectList } from './list.tsx'
import { Subject } from './subject.tsx'
import type { Limits, Person } from './types.ts'
import { useChange } from './use-change.ts'

const ROLES = ['viewer', 'member', 'operator'] as const

/** List of people. */
export function Persons() {
  const { isOperator } = useSession()
  return (
    <SubjectList<Person>
      name="people"
      {...(isOperator && { create: (reload) => <NewPerson onMade={reload} /> })}
      row={(person, reload) => <PersonRow key={person.id} person={person} onChanged={reload} />}
    />
  )
}

function PersonRow({ person, onChanged }: { person: Person; onChanged: () => void }) {
  const { isOperator } = useSession()
  const { id, name, role, teams, keys, suspendedAt } = person
  const title = (
    <>
      <strong>{visible(name ?? id)}</strong>
      {role !== 'member' && <span class="badge">{role}</span>}
      {suspendedAt !== null && <span class="badge failed">suspended</span>}
      <span class="muted">
        {teams.map((team) => visible(team.name)).join(', ')}
        {teams.length > 0 && ' · '}
        {keys} {keys === 1 ? 'key' : 'keys'}
      </span>
    </>
  )
  return (
    <Subject title={title} filter={{ person: id }} {...person}>
      <p>
        <a href={`#/people/keys?person=${encodeURIComponent(id)}`}>Keys of {visible(name ?? id)}</a>
        <span class="muted">
          {' '}
          Id <code>{visible(id)}</code>
          {person.email !== null && `, ${visible(person.email)}`}
        </span>
      </p>
      {isOperator && <ChangePerson person={person} onChanged={onChanged} />}
    </Subject>
  )
}

function ChangePerson({ person, onChanged }: { person: Person; onChanged: () => void }) {
  const [draft, setDraft] = useState({ name: person.name ?? '', email: person.email ?? '', role: person.role })
  const [limits, setLimits] = useState<Limits>(person.limits ?? {})
  const { send, error, isBusy } = useChange(onChanged)
  const path = `people/${encodeURIComponent(person.id)}`
  const save = (event: Event) => {
    event.preventDefault()
    const { name, email, role } = draft
    void send('PATCH', path, { name: name || null, email: email || null, role, limits: limitsOf(limits) })
  }
  const isSuspended = person.suspendedAt !== null
  return (
    <form onSubmit={save}>
      <div class="numbers">
        <TextField
          label="Name"
          value={draft.name}
          maxLength={120}
          onText={(value) => setDraft({ ...draft, name: value })}
        />
        <TextField
          label="E-mail"
          value={draft.email}
          maxLength={254}
          onText={(value) => setDraft({ ...draft, email: value })}
        />
        <label>
          <span>Role</span>
          <select
            value={draft.role}
            onChange={({ currentTarget }) => setDraft({ ...draft, role: currentTarget.value })}
          >
            {ROLES.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </select>
        </label>
      </div>
      <LimitFields value={limits} onChange={setLimits} />
      {error && <Failure error={error} />}
      <div class="bar">
        <button type="submit" class="primary" disabled={isBusy}>
          Save
        </button>
        <button
          type="button"
          class={isSuspended ? '' : 'danger'}
          disabled={isBusy}
          onClick={() => send('POST', `${path}/${isSuspended ? 'resume' : 'suspend'}`)}
        >
          {isSuspended ? 'Resume' : 'Suspend'}
        </button>
      </div>
    </form>
  )
}

function NewPerson({ onMade }: { onMade: () => void }) {
  const [draft, setDraft] = useState({ id: '', name: '' })
  const { send, error, isBusy } = useChange(onMade)
  const submit = async (event: Event) => {
    event.preventDefault()
    const made = await send('POST', 'people', { id: draft.id, ...(draft.name !== '' && { name: draft.name }) })
    if (made !== undefined) setDraft({ id: '', name: '' })
  }
  return (
    <NewForm title="Add a person before the first sign-in">
      <form onSubmit={submit}>
        <div class="numbers">
          <TextField
            label="Id, as the identity provider gives it"
            required
            value={draft.id}
            maxLength={200}
            onText={(value) => setDraft({ ...draft, id: value })}
          />
          <TextField
            label="Name"
            value={draft.name}
            maxLength={120}
            onText={(value) => setDraft({ ...draft, name: value })}
          />
        </div>
        {error && <Failure error={error} />}
        <button type="submit" class="primary" disabled={isBusy}>
          Add person
        </button>
      </form>
    </NewForm>
  )
}
