import '../keys.css'
import { useState } from 'preact/hooks'
import { visible } from '../../format.ts'
import { ClientLines } from '../../parts/client-lines.tsx'
import { KeyDates, KeyState } from '../../parts/key-state.tsx'
import { NamedValue } from '../../parts/named-value.tsx'
import { useSession } from '../../session.tsx'
import { useNames } from '../../use-names.ts'
import { ChangeManagedKey } from './change-key.tsx'
import { SubjectList } from './list.tsx'
import { NewManagedKey } from './new-key.tsx'
import { Subject } from './subject.tsx'
import type { ManagedKey } from './types.ts'

/** List of keys: those of a person or team, or all. */
export function ManagedKeys({ query }: { query: URLSearchParams }) {
  const { mayChange } = useSession()
  const [secret, setSecret] = useState<string>()
  const [person, team] = [query.get('person'), query.get('team')]
  const names = useNames({ person: [person], team: [team] })
  const filter = `${person === null ? '' : `&person=${encodeURIComponent(person)}`}${team === null ? '' : `&team=${encodeURIComponent(team)}`}`
  return (
    <>
      {secret !== undefined && (
        <section class="fresh-key" aria-labelledby="fresh">
          <h2 id="fresh">The new secret</h2>
          <p>It is shown only once. Hand it over on a safe way.</p>
          <ClientLines apiKey={secret} />
          <button type="button" onClick={() => setSecret(undefined)}>
            Done
          </button>
        </section>
      )}
      {filter !== '' && (
        <p>
          Keys of{' '}
          <strong>
            <NamedValue of={person === null ? 'team' : 'person'} id={person ?? team ?? ''} names={names} />
          </strong>
          . <a href="#/people/keys">Show all keys</a>
        </p>
      )}
      <SubjectList<ManagedKey>
        key={filter}
        name="keys"
        query={filter}
        {...(mayChange && {
          create: (reload) => (
            <NewManagedKey person={person ?? ''} team={team ?? ''} onMade={reload} onSecret={setSecret} />
          ),
        })}
        row={(key, reload) => <KeyRow key={key.id} value={key} onChanged={reload} onSecret={setSecret} />}
      />
    </>
  )
}

interface KeyRowProps {
  readonly value: ManagedKey
  readonly onChanged: () => void
  readonly onSecret: (key: string) => void
}

function KeyRow({ value, onChanged, onSecret }: KeyRowProps) {
  const { isOperator, teamIds, userId } = useSession()
  const { name, prefix, personId, personName, teamName, teamId, tags = [] } = value
  const isLed = teamId !== undefined && teamIds.includes(teamId)
  const mayChange = isOperator || (isLed && personId !== userId)
  const title = (
    <>
      <strong>{name === undefined ? 'unnamed' : visible(name)}</strong>
      <code>{prefix}…</code>
      <KeyState {...value} />
      <span class="muted">
        {visible(personName ?? personId)}
        {teamName !== null && ` · ${visible(teamName)}`}
        {tags.length > 0 && ` · ${tags.join(', ')}`}
      </span>
    </>
  )
  return (
    <Subject title={title} filter={{ key: value.id }} {...value} limits={value.limits}>
      <p class="muted">
        Id <code>{value.id}</code>. <KeyDates {...value} />
      </p>
      {mayChange && value.revokedAt === null && (
        <ChangeManagedKey value={value} onChanged={onChanged} onSecret={onSecret} />
      )}
    </Subject>
  )
}
