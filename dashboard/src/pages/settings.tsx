import { useState } from 'preact/hooks'
import { printed } from '../format.ts'
import { Check, SearchField } from '../parts/fields.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { useData } from '../use-data.ts'

interface Settings {
  readonly file?: string
  readonly options: readonly {
    readonly name: string
    readonly value?: unknown
    readonly source: 'default' | 'file' | 'environment'
    readonly description?: string
  }[]
}

/** Page of the effective configuration, with the source of each value. */
export function SettingsPage() {
  const { data, error, isBusy, reload } = useData<Settings>('/dashboard/api/settings')
  const [text, setText] = useState('')
  const [setOnly, changeSetOnly] = useState(false)
  const wanted = text.trim().toLowerCase()
  const found = (data?.options ?? []).filter(
    ({ name, description = '', source }) =>
      `${name} ${description}`.toLowerCase().includes(wanted) && (!setOnly || source !== 'default'),
  )
  return (
    <>
      <div class="page-head">
        <h1>Effective settings</h1>
        {data && <span class="muted">{data.file ?? 'no configuration file'}</span>}
      </div>
      <p class="muted">
        Read at the start; secrets are hidden. Change them in the file or the environment, and start again.
      </p>
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what="settings" />}
      {data !== undefined && (
        <>
          <div class="filters">
            <SearchField value={text} placeholder="option, or word of its documentation …" onChange={setText} />
            <Check label="Only changed options" value={setOnly} onChange={changeSetOnly} />
          </div>
          {found.length === 0 ? (
            <Empty title={setOnly && wanted === '' ? 'No changed options' : 'No matching options'} />
          ) : (
            <SettingTable options={found} />
          )}
        </>
      )}
    </>
  )
}

function SettingTable({ options }: Pick<Settings, 'options'>) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Settings">
      <table class="text-table">
        <thead>
          <tr>
            <th scope="col">Option</th>
            <th scope="col">Value</th>
            <th scope="col">From</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {options.map(({ name, value, source, description }) => (
            <tr key={name}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td class="value">
                <code>{printed(value)}</code>
              </td>
              <td>
                {source === 'default' ? (
                  <span class="muted">default</span>
                ) : (
                  <span class="badge cache-hit">{source}</span>
                )}
              </td>
              <td class="prose">{description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
