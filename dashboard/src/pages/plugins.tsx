import { useState } from 'preact/hooks'
import { printed } from '../format.ts'
import { SearchField } from '../parts/fields.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { useData } from '../use-data.ts'

interface Option {
  readonly name: string
  readonly type: string
  readonly default?: unknown
  /** Set when the configuration has a value for it. */
  readonly isSet: boolean
  readonly isPerRequest: boolean
  readonly description?: string
}

interface Installed {
  readonly name: string
  readonly summary: string
  readonly onError: 'bypass' | 'refuse'
  /** Folder; shown to operators. */
  readonly folder?: string
  readonly options: readonly Option[]
}

interface Broken {
  readonly name: string
  readonly folder: string
  readonly reason: string
  readonly isKept: boolean
}

const ON_ERROR = {
  bypass: 'bypassed on failure',
  refuse: 'the request is refused on failure',
} as const

/** Page of the plugins, their options, and faults of invalid plugins. */
export function PluginsPage() {
  const { data, error, isBusy, reload } = useData<{ data: (Installed | Broken)[] }>('/dashboard/api/plugins')
  const [text, setText] = useState('')
  const all = data?.data ?? []
  const broken = all.filter((plugin): plugin is Broken => 'reason' in plugin)
  const installed = all.filter((plugin): plugin is Installed => 'options' in plugin)
  const wanted = text.trim().toLowerCase()
  const found = installed.filter((plugin) => JSON.stringify(plugin).toLowerCase().includes(wanted))
  return (
    <>
      <div class="page-head">
        <h1>Plugins</h1>
        <button type="button" class="quiet" onClick={reload}>
          Refresh
        </button>
      </div>
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what="plugins" />}
      {broken.map((plugin) => (
        <BrokenPlugin key={plugin.name} {...plugin} />
      ))}
      {installed.length > 0 && (
        <div class="filters">
          <SearchField value={text} placeholder="plugin, option, word of its documentation …" onChange={setText} />
        </div>
      )}
      {found.map((plugin) => (
        <PluginPart key={plugin.name} plugin={plugin} isOpen={wanted !== ''} />
      ))}
      {data !== undefined && found.length === 0 && <Empty title="No matching plugins" />}
    </>
  )
}

function BrokenPlugin({ name, folder, reason, isKept }: Broken) {
  return (
    <div class="notice failure" role="alert">
      <p>
        <strong>{name}</strong> is invalid{isKept && '; its previous version remains active'}: {reason}
        <br />
        <small>{folder}</small>
      </p>
    </div>
  )
}

function PluginPart({
  plugin: { name, summary, onError, folder, options },
  isOpen,
}: {
  plugin: Installed
  isOpen: boolean
}) {
  return (
    <details open={isOpen} class="plugin">
      <summary>
        <strong>{name}</strong> <span class="badge fine">active</span> <span class="muted">{summary}</span>
      </summary>
      <p class="muted">
        {options.length === 0 ? 'It has no options' : `${options.length} options`}; {ON_ERROR[onError]}
        {folder !== undefined && `; from ${folder}`}.
      </p>
      {options.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label={`Options of ${name}`}>
          <table class="text-table">
            <thead>
              <tr>
                <th scope="col">Option</th>
                <th scope="col">Type</th>
                <th scope="col">Default</th>
                <th scope="col">Meaning</th>
              </tr>
            </thead>
            <tbody>
              {options.map((option) => (
                <tr key={option.name}>
                  <th scope="row">
                    <code>{option.name}</code>
                    {option.isSet && <span class="badge cache-hit">set</span>}
                    {option.isPerRequest && <span class="badge">per request</span>}
                  </th>
                  <td class="kind">{option.type}</td>
                  <td class="value">
                    <code>{printed(option.default)}</code>
                  </td>
                  <td class="prose">{option.description}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  )
}
