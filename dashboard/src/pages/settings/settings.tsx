import './settings.css'
import { useState } from 'preact/hooks'
import { printed } from '../../format.ts'
import { Check, SearchField, TextField } from '../../parts/fields.tsx'
import { Busy, Empty, Failure } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { useData } from '../../use-data.ts'
import { ChangeForm } from './change.tsx'
import { History } from './history.tsx'

interface Option {
  readonly name: string
  readonly value?: unknown
  readonly source: 'default' | 'file' | 'environment' | 'dashboard'
  readonly description?: string
}

interface Settings {
  readonly file?: string
  readonly options: readonly Option[]
  /** False where the file and the environment alone are in force. */
  readonly isEditable: boolean
  /** Names of options that can be changed without a restart. */
  readonly editable: readonly string[]
  /** Stored values that are not in force. */
  readonly ignored: readonly { readonly name: string; readonly reason: string }[]
}

/** Page of the effective configuration, with the source of each value, changes with a preview, and their history. */
export function SettingsPage() {
  const [round, setRound] = useState(0)
  const { data, error, isBusy, reload } = useData<Settings>('/dashboard/api/settings')
  const [text, setText] = useState('')
  const [setOnly, changeSetOnly] = useState(false)
  const changed = () => {
    setRound((old) => old + 1)
    reload()
  }
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
        Secrets are hidden. Caps, model names and pipelines change here, on every process from the next request on,
        where the file and the environment leave them open; everything else in those two, with a restart.
      </p>
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what="settings" />}
      {data !== undefined && (
        <>
          {!data.isEditable && (
            <p class="notice">
              <code>settings.editable</code> is off: a preview gives each change as YAML for the file.
            </p>
          )}
          {data.ignored.map(({ name, reason }) => (
            <p key={name} class="notice failure">
              The stored value of <code>{name}</code> is not in force: {reason}
            </p>
          ))}
          <NewModel onDone={changed} />
          <div class="filters">
            <SearchField value={text} placeholder="option, or word of its documentation …" onText={setText} />
            <Check label="Only changed options" value={setOnly} onChange={changeSetOnly} />
          </div>
          {found.length === 0 ? (
            <Empty title={setOnly && wanted === '' ? 'No changed options' : 'No matching options'} />
          ) : (
            <SettingTable options={found} editable={new Set(data.editable)} onDone={changed} />
          )}
          <History round={round} onUndone={changed} />
        </>
      )}
    </>
  )
}

function NewModel({ onDone }: { onDone: () => void }) {
  const [name, setName] = useState('')
  const [isOpen, setOpen] = useState(false)
  if (isOpen)
    return (
      <ChangeForm
        name={`models.${name.trim()}`}
        value={undefined}
        onDone={() => {
          setOpen(false)
          setName('')
          onDone()
        }}
        onClose={() => setOpen(false)}
      />
    )
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault()
        setOpen(true)
      }}
    >
      <TextField
        class="search"
        label="Name of a model of your own"
        value={name}
        required
        placeholder="fast, or a model’s name that gets a fallback …"
        onText={setName}
      />
      <button type="submit">Set its models</button>
    </form>
  )
}

interface TableProps {
  readonly options: readonly Option[]
  readonly editable: ReadonlySet<string>
  readonly onDone: () => void
}

function SettingTable({ options, editable, onDone }: TableProps) {
  return (
    <Table class="text-table" label="Settings" heads={['Option', 'Value', 'From', 'Meaning']}>
      {options.map((option) => (
        <Row key={option.name} option={option} isEditable={editable.has(option.name)} onDone={onDone} />
      ))}
    </Table>
  )
}

function Row({ option, isEditable, onDone }: { option: Option; isEditable: boolean; onDone: () => void }) {
  const { name, value, source, description } = option
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  const done = () => {
    close()
    onDone()
  }
  return (
    <>
      <tr>
        <th scope="row">
          <code>{name}</code>
        </th>
        <td class="value">
          <code>{printed(value)}</code>
          {isEditable && !isOpen && (
            <button type="button" class="quiet small" onClick={() => setOpen(true)} aria-label={`Change ${name}`}>
              Change
            </button>
          )}
        </td>
        <td>
          {source === 'default' ? <span class="muted">default</span> : <span class="badge cache-hit">{source}</span>}
        </td>
        <td class="prose">{description}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={4}>
            <ChangeForm name={name} value={value} onDone={done} onClose={close} />
          </td>
        </tr>
      )}
    </>
  )
}
