import { useEffect, useState } from 'preact/hooks'
import type { Names } from '../../../src/core/ports/names.ts'
import { call } from '../api.ts'
import { count, duration, visible } from '../format.ts'
import { useData } from '../use-data.ts'
import { NamedKey } from './named-value.tsx'
import { Failure } from './states.tsx'
import { Table } from './table.tsx'

/** Row of `/dashboard/api/in-flight`. */
interface InFlightRow {
  readonly id: string
  readonly keyId: string | null
  readonly userId: string | null
  readonly startedAtMs: number
  readonly route: string
  readonly isStream: boolean
  readonly model: string
  readonly state: 'modules' | 'provider' | 'reply'
  readonly outputTokens: number | null
}

const REFRESH_MS = 2000
const STATES = { modules: 'in modules', provider: 'waiting for the provider', reply: 'replying' } as const

/** Requests whose replies have not ended, with a button that ends one. */
export function InFlight() {
  const { data, error, reload } = useData<{ data: readonly InFlightRow[]; names: Names }>('/dashboard/api/in-flight')
  const [failure, setFailure] = useState<Error>()
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [reload])
  const end = async (id: string) => {
    try {
      await call(`/dashboard/api/in-flight/${encodeURIComponent(id)}`, { method: 'DELETE' })
      setFailure(undefined)
    } catch (thrown) {
      // Safe: `call` throws errors.
      setFailure(thrown as Error)
    }
    reload()
  }
  const rows = data?.data ?? []
  const shown = failure ?? (rows.length > 0 ? error : undefined)
  if (rows.length === 0 && shown === undefined) return null
  return (
    <section aria-labelledby="in-flight">
      <h2 id="in-flight">In flight: {count(rows.length)}</h2>
      {shown && <Failure error={shown} />}
      <Table labelledBy="in-flight" heads={['Model', 'State', 'For', 'Tokens out', 'Key', 'End']}>
        {rows.map((row) => (
          <tr key={row.id}>
            <th scope="row">{visible(row.model)}</th>
            <td>
              {STATES[row.state]}
              {row.isStream && <small> stream</small>}
            </td>
            <td>{duration(Math.max(0, Date.now() - row.startedAtMs))}</td>
            <td>{count(row.outputTokens)}</td>
            <td>
              <NamedKey {...row} names={data?.names} />
            </td>
            <td>
              <button type="button" class="danger small" onClick={() => end(row.id)}>
                End<span class="unseen"> the request to {visible(row.model)}</span>
              </button>
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}
