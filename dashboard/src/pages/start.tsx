import { useState } from 'preact/hooks'
import { call } from '../api.ts'
import { ClientLines } from '../parts/client-lines.tsx'
import { Choice, TextField } from '../parts/fields.tsx'
import { FirstRequest } from '../parts/first-request.tsx'
import { Busy, Failure } from '../parts/states.tsx'
import { useSession } from '../session.tsx'
import { useData } from '../use-data.ts'
import { useFeed } from '../use-feed.ts'

/** Attributes of a field whose text is exact: no word of a language. */
const EXACT = { class: 'search', required: true, autocomplete: 'off', spellcheck: false } as const

interface KeyedProvider {
  readonly name: string
  readonly variable?: string
  readonly baseUrl?: string
  readonly source: 'file' | 'environment' | 'dashboard' | null
  readonly endsWith: string | null
  readonly isStored: boolean
  readonly fault: string | null
}

type Providers = { readonly data: readonly KeyedProvider[] }

const PATH = '/dashboard/api/providers'
const OWN = 'another'

/** Page of the first run: a provider's key, the line for a client, and the first request as it arrives. */
export function StartPage() {
  const { isOperator, mode } = useSession()
  return (
    <>
      <div class="page-head">
        <h1>Start</h1>
      </div>
      <h2>1. A provider’s key</h2>
      {isOperator ? <ProviderKeys /> : <p class="muted">The operators of this gateway provide the keys.</p>}
      <h2>2. A client</h2>
      {mode === 'cloud' && (
        <p class="muted">
          With a key of yours from <a href="#/keys">Keys</a> in place of <code>svc_live_…</code>.
        </p>
      )}
      <ClientLines apiKey={mode === 'local' ? 'any' : 'svc_live_…'} />
      <p class="muted">Or one request without a provider’s key:</p>
      <FirstRequest />
      <h2>3. The first request</h2>
      <Arriving />
    </>
  )
}

function ProviderKeys() {
  const { data, error, isBusy, reload } = useData<Providers>(PATH)
  const [name, setName] = useState('anthropic')
  const known = data?.data ?? []
  const options = Object.fromEntries([...known.map((each) => [each.name, each.name]), [OWN, 'another service …']])
  return (
    <>
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what="providers" />}
      {known
        .filter(({ source, isStored }) => source !== null || isStored)
        .map((provider) => (
          <StoredKey key={provider.name} provider={provider} onChanged={reload} />
        ))}
      {data !== undefined && (
        <>
          <div class="filters">
            <Choice label="Provider" value={name} options={options} onChange={setName} />
          </div>
          <NewKey key={name} provider={known.find((each) => each.name === name)} onStored={reload} />
        </>
      )}
    </>
  )
}

function StoredKey({ provider, onChanged }: { provider: KeyedProvider; onChanged: () => void }) {
  const { name, source, endsWith, isStored, fault, variable } = provider
  const [error, setError] = useState<Error>()
  const remove = () => call(`${PATH}/${name}/key`, { method: 'DELETE' }).then(onChanged).catch(setError)
  return (
    <>
      <p>
        <strong>{name}</strong>{' '}
        {source === null ? (
          <span class="badge failed">not in force</span>
        ) : (
          <span class="badge fine">{source === 'dashboard' ? 'stored encrypted' : `set by ${variable ?? source}`}</span>
        )}{' '}
        {endsWith && <code>…{endsWith}</code>} {fault && <span class="muted">{fault}</span>}{' '}
        {isStored && (
          <button type="button" class="quiet small danger" onClick={remove}>
            Delete the stored key
          </button>
        )}
      </p>
      {error && <Failure error={error} />}
    </>
  )
}

function NewKey({ provider, onStored }: { provider: KeyedProvider | undefined; onStored: () => void }) {
  const [own, setOwn] = useState('')
  const [baseUrl, setBaseUrl] = useState('')
  const [apiKey, setApiKey] = useState('')
  const [state, setState] = useState<{ error?: Error; isBusy?: boolean; isDone?: boolean }>({})
  if (provider?.source === 'file' || provider?.source === 'environment') return null
  const submit = async (event: Event) => {
    event.preventDefault()
    setState({ isBusy: true })
    try {
      const body = { apiKey, ...(baseUrl !== '' && { baseUrl }) }
      await call(`${PATH}/${encodeURIComponent(provider?.name ?? own)}/key`, { method: 'PUT', body })
      setApiKey('')
      setState({ isDone: true })
      onStored()
    } catch (thrown) {
      // Safe: `call` throws errors.
      setState({ error: thrown as Error })
    }
  }
  return (
    <form onSubmit={submit}>
      <div class="filters">
        {provider === undefined && (
          <TextField {...EXACT} label="Name" value={own} placeholder="house" onText={setOwn} />
        )}
        {provider?.baseUrl === undefined && (
          <TextField
            {...EXACT}
            label="Address"
            value={baseUrl}
            placeholder="https://models.example.com/v1"
            onText={setBaseUrl}
          />
        )}
        <TextField
          class="search"
          label="API key"
          type="password"
          value={apiKey}
          required
          autocomplete="off"
          onText={setApiKey}
        />
        <button type="submit" class="primary" disabled={state.isBusy === true}>
          {state.isBusy ? 'Testing…' : 'Test and store'}
        </button>
      </div>
      <p class="muted">
        It is stored encrypted, and shown by its last four characters alone.
        {provider?.variable !== undefined && (
          <>
            {' '}
            Or set <code>{provider.variable}</code> and start again: the environment takes precedence.
          </>
        )}
      </p>
      {state.error && <Failure error={state.error} />}
      {state.isDone && <p role="status">The key works, and is in force from the next request on.</p>}
    </form>
  )
}

function Arriving() {
  const { has } = useSession()
  const { rows } = useFeed(false)
  const first = rows[0]
  if (!has.telemetry) return <p class="muted">Telemetry is off: requests are not shown.</p>
  if (first === undefined) return <p role="status">Waiting for it…</p>
  return (
    <p role="status">
      <span class="badge fine">arrived</span> <a href={`#/request/${first.id}`}>{first.modelAsked || first.id}</a>. All
      that follow are in <a href="#/live">Live</a>.
    </p>
  )
}
