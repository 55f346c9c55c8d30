import { useState } from 'preact/hooks'
import { call } from '../../api.ts'
import { printed } from '../../format.ts'
import { SearchField } from '../../parts/fields.tsx'
import { Busy, Empty, Failure } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useSession } from '../../session.tsx'
import { useAttempt } from '../../use-attempt.ts'
import { useData } from '../../use-data.ts'
import { FigureCards, type PluginFigures, runsToday } from './figures.tsx'

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
  /** False while it is switched off for new requests. */
  readonly isOn: boolean
  /** True when it always runs. */
  readonly isLocked: boolean
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
  const { has } = useSession()
  const figures = useData<PluginFigures>(has.telemetry ? '/dashboard/api/plugins/figures' : undefined)
  const [text, setText] = useState('')
  const all = data?.data ?? []
  const broken = all.filter((plugin): plugin is Broken => 'reason' in plugin)
  const installed = all.filter((plugin): plugin is Installed => 'options' in plugin)
  const off = installed.filter(({ isOn }) => !isOn).map(({ name }) => name)
  const refresh = () => {
    reload()
    figures.reload()
  }
  const wanted = text.trim().toLowerCase()
  const found = installed.filter((plugin) => JSON.stringify(plugin).toLowerCase().includes(wanted))
  return (
    <>
      <div class="page-head">
        <h1>Plugins</h1>
        <button type="button" class="quiet" onClick={refresh}>
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
          <SearchField value={text} placeholder="plugin, option, word of its documentation …" onText={setText} />
        </div>
      )}
      {found.map((plugin) => (
        <PluginPart
          key={plugin.name}
          plugin={plugin}
          isOpen={wanted !== ''}
          figures={figures.data}
          off={off}
          onSwitched={reload}
        />
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
  plugin: { name, summary, onError, folder, options, isOn, isLocked },
  isOpen,
  figures,
  off,
  onSwitched,
}: {
  plugin: Installed
  isOpen: boolean
  figures: PluginFigures | undefined
  /** Plugins that are switched off. */
  off: readonly string[]
  onSwitched: () => void
}) {
  return (
    <details open={isOpen} class="plugin">
      <summary>
        <strong>{name}</strong> <span class={`badge ${isOn ? 'fine' : 'failed'}`}>{isOn ? 'active' : 'off'}</span>{' '}
        {isLocked && <span class="badge">locked</span>}{' '}
        <span class="muted">
          {summary} {figures && runsToday(figures, name)}
        </span>
      </summary>
      <p class="muted">
        {options.length === 0 ? 'It has no options' : `${options.length} options`}; {ON_ERROR[onError]}
        {folder !== undefined && `; from ${folder}`}.
      </p>
      {figures && <FigureCards figures={figures} name={name} />}
      <Switch name={name} isOn={isOn} isLocked={isLocked} off={off} onSwitched={onSwitched} />
      {options.length > 0 && (
        <Table class="text-table" label={`Options of ${name}`} heads={['Option', 'Type', 'Default', 'Meaning']}>
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
        </Table>
      )}
    </details>
  )
}

/** Button that switches a plugin off or on for new requests; for operators. */
function Switch({
  name,
  isOn,
  isLocked,
  off,
  onSwitched,
}: Pick<Installed, 'name' | 'isOn' | 'isLocked'> & { off: readonly string[]; onSwitched: () => void }) {
  const { isOperator } = useSession()
  const { attempt, error } = useAttempt()
  if (!isOperator) return null
  const change = () =>
    attempt(async () => {
      const names = isOn ? [...off, name] : off.filter((each) => each !== name)
      const body = { name: 'pipeline.off', value: names.length === 0 ? null : names }
      await call('/dashboard/api/settings', { method: 'POST', body })
      onSwitched()
    })
  return (
    <>
      <p>
        <button type="button" disabled={isLocked} onClick={change} aria-label={`Switch ${isOn ? 'off' : 'on'} ${name}`}>
          Switch {isOn ? 'off' : 'on'}
        </button>{' '}
        <span class="muted">
          {isLocked
            ? 'Locked by the operator’s configuration, or by a cap that it enforces: it always runs.'
            : 'For new requests, on every process; listed with its author in Settings.'}
        </span>
      </p>
      {error && <Failure error={error} />}
    </>
  )
}
