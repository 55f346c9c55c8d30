import { useState } from 'preact/hooks'
import { visible } from '../../format.ts'
import { TextField } from '../../parts/fields.tsx'
import { Failure } from '../../parts/states.tsx'
import { useSession } from '../../session.tsx'
import { PersonInput } from './key-fields.tsx'
import { LimitFields, limitsOf } from './limit-fields.tsx'
import { NewForm, SubjectList } from './list.tsx'
import { Subject } from './subject.tsx'
import type { Limits, Team } from './types.ts'
import { useChange } from './use-change.ts'

/** List of teams. */
export function Teams() {
  const { isOperator } = useSession()
  return (
    <SubjectList<Team>
      name="teams"
      {...(isOperator && { create: (reload) => <NewTeam onMade={reload} /> })}
      row={(team, reload) => <TeamRow key={team.id} team={team} onChanged={reload} />}
    />
  )
}

function TeamRow({ team, onChanged }: { team: Team; onChanged: () => void }) {
  const { isOperator, teamIds } = useSession()
  const { id, name, members, keys, archivedAt } = team
  const title = (
    <>
      <strong>{visible(name)}</strong>
      {archivedAt !== null && <span class="badge">archived</span>}
      <span class="muted">
        {members !== undefined && `${members.length} ${members.length === 1 ? 'person' : 'people'} · `}
        {keys} {keys === 1 ? 'key' : 'keys'}
      </span>
    </>
  )
  return (
    <Subject title={title} filter={{ team: id }} {...team}>
      <p>
        <a href={`#/people/keys?team=${encodeURIComponent(id)}`}>Keys of {visible(name)}</a>
      </p>
      {isOperator && <ChangeTeam team={team} onChanged={onChanged} />}
      {members !== undefined && (
        <Members team={team} mayChange={isOperator || teamIds.includes(id)} onChanged={onChanged} />
      )}
    </Subject>
  )
}

function ChangeTeam({ team, onChanged }: { team: Team; onChanged: () => void }) {
  const [name, setName] = useState(team.name)
  const [limits, setLimits] = useState<Limits>(team.limits ?? {})
  const { send, error, isBusy } = useChange(onChanged)
  const save = (event: Event) => {
    event.preventDefault()
    void send('PATCH', `teams/${team.id}`, { name, limits: limitsOf(limits) })
  }
  const archived = team.archivedAt === null
  return (
    <form onSubmit={save}>
      <TextField label="Name" required value={name} maxLength={120} onText={setName} />
      <LimitFields value={limits} onChange={setLimits} />
      {error && <Failure error={error} />}
      <div class="bar">
        <button type="submit" class="primary" disabled={isBusy}>
          Save
        </button>
        <button type="button" disabled={isBusy} onClick={() => send('PATCH', `teams/${team.id}`, { archived })}>
          {archived ? 'Archive' : 'Take out of the archive'}
        </button>
      </div>
    </form>
  )
}

function Members({ team, mayChange, onChanged }: { team: Team; mayChange: boolean; onChanged: () => void }) {
  const { isOperator } = useSession()
  const [person, setPerson] = useState('')
  const { send, error, isBusy } = useChange(onChanged)
  const pathOf = (id: string) => `teams/${team.id}/members/${encodeURIComponent(id)}`
  const add = async (event: Event) => {
    event.preventDefault()
    if ((await send('PUT', pathOf(person.trim()), {})) !== undefined) setPerson('')
  }
  return (
    <section aria-label={`Members of ${visible(team.name)}`}>
      <ul class="members">
        {team.members?.map(({ id, name, role }) => (
          <li key={id}>
            <span>{visible(name ?? id)}</span>
            {mayChange ? (
              <>
                <select
                  aria-label={`Role of ${visible(name ?? id)}`}
                  value={role}
                  onChange={({ currentTarget }) => send('PUT', pathOf(id), { role: currentTarget.value })}
                >
                  <option>member</option>
                  <option>lead</option>
                </select>
                <button type="button" class="quiet small" disabled={isBusy} onClick={() => send('DELETE', pathOf(id))}>
                  Remove
                </button>
              </>
            ) : (
              <span class="muted">{role}</span>
            )}
          </li>
        ))}
      </ul>
      {isOperator && (
        <form onSubmit={add}>
          <div class="filters">
            <PersonInput value={person} onInput={setPerson} />
            <button type="submit" disabled={isBusy}>
              Add member
            </button>
          </div>
        </form>
      )}
      {error && <Failure error={error} />}
    </section>
  )
}

function NewTeam({ onMade }: { onMade: () => void }) {
  const [name, setName] = useState('')
  const { send, error, isBusy } = useChange(onMade)
  const submit = async (event: Event) => {
    event.preventDefault()
    if ((await send('POST', 'teams', { name })) !== undefined) setName('')
  }
  return (
    <NewForm title="Create a team">
      <form onSubmit={submit}>
        <TextField label="Name of the team" required value={name} maxLength={120} onText={setName} />
        {error && <Failure error={error} />}
        <button type="submit" class="primary" disabled={isBusy}>
          Create team
        </button>
      </form>
    </NewForm>
  )
}
