import { useState } from 'preact/hooks'
import { call } from '../../api.ts'
import { moment } from '../../format.ts'
import { NamedValue } from '../../parts/named-value.tsx'
import { Failure } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useData } from '../../use-data.ts'
import { useNames } from '../../use-names.ts'

const PATH = '/dashboard/api/settings/changes'
/** Prefix of authors that are people. */
const USER = 'user:'

interface Change {
  readonly seq: number
  readonly atMs: number
  readonly actor: string
  readonly name: string
  readonly value: string | null
  readonly previous: string | null
}

/** List of changes with their authors; the last one of an option can be undone. */
export function History({ round, onUndone }: { round: number; onUndone: () => void }) {
  const { data, error, reload } = useData<{ data: readonly Change[] }>(`${PATH}?round=${round}`)
  const [failure, setFailure] = useState<Error>()
  const changes = data?.data ?? []
  const names = useNames({ person: changes.map(({ actor }) => idOf(actor)) })
  const last = new Map(changes.toReversed().map(({ name, seq }) => [name, seq]))
  const undo = (seq: number) =>
    call(`${PATH}/${seq}/undo`, { method: 'POST' })
      .then(() => {
        setFailure(undefined)
        onUndone()
      })
      .catch(setFailure)
  if (changes.length === 0 && error === undefined) return null
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">Changes</h2>
      {error && <Failure error={error} onRetry={reload} />}
      {failure && <Failure error={failure} />}
      <Table class="text-table" label="Changes of settings" heads={['When', 'Author', 'Option', 'From', 'To', 'Undo']}>
        {changes.map(({ seq, atMs, actor, name, value, previous }) => (
          <tr key={seq}>
            <td>{moment(atMs)}</td>
            <td>
              {idOf(actor) === undefined ? actor : <NamedValue of="person" id={idOf(actor) ?? ''} names={names} />}
            </td>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td class="value">
              <code>{previous ?? 'default'}</code>
            </td>
            <td class="value">
              <code>{value ?? 'default'}</code>
            </td>
            <td>
              {last.get(name) === seq && !name.startsWith('providers.') && (
                <button type="button" class="quiet small" onClick={() => undo(seq)} aria-label={`Undo ${name}`}>
                  Undo
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

/** Returns the id of an author that is a person; `undefined` for the operator of local mode. */
function idOf(actor: string): string | undefined {
  return actor.startsWith(USER) ? actor.slice(USER.length) : undefined
}
