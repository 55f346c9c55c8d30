import './people.css'
import { Empty } from '../../parts/states.tsx'
import type { Route } from '../../route.ts'
import { useSession } from '../../session.tsx'
import { ManagedKeys } from './managed-keys.tsx'
import { Persons } from './persons.tsx'
import { Tags } from './tags.tsx'
import { Teams } from './teams.tsx'

const SECTIONS = [
  ['', 'People'],
  ['teams', 'Teams'],
  ['keys', 'Keys'],
  ['tags', 'Tags'],
] as const

/** Page of people, teams, keys and tags: spend against limits, and every change of them. */
export function PeoplePage({ route }: { route: Route }) {
  const { mode, role } = useSession()
  if (mode === 'local')
    return (
      <Empty title="Local mode has no people">
        <p>
          People, teams and their keys come with cloud mode (<code>SVC_MODE=cloud</code>).
        </p>
      </Empty>
    )
  const seesTags = role === 'operator' || role === 'viewer'
  return (
    <>
      <div class="page-head">
        <h1>People</h1>
        <fieldset class="choice">
          <legend>Section</legend>
          {SECTIONS.filter(([name]) => seesTags || name !== 'tags').map(([name, title]) => (
            <a
              key={name}
              href={name === '' ? '#/people' : `#/people/${name}`}
              aria-current={route.id === name ? 'true' : undefined}
            >
              {title}
            </a>
          ))}
        </fieldset>
      </div>
      {route.id === '' && <Persons />}
      {route.id === 'teams' && <Teams />}
      {route.id === 'keys' && <ManagedKeys query={route.query} />}
      {route.id === 'tags' && <Tags />}
    </>
  )
}
