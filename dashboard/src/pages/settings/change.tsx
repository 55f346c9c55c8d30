import { useState } from 'preact/hooks'
import { call } from '../../api.ts'
import { printed, usd } from '../../format.ts'
import { Copy } from '../../parts/copy.tsx'
import { Failure } from '../../parts/states.tsx'
import { useAttempt } from '../../use-attempt.ts'

const PATH = '/dashboard/api/settings'
const NANO_USD = 1e9

interface Explained {
  readonly printed: string
}

/** Effects of a change, as the gateway previews them. */
interface Preview {
  readonly before: unknown
  readonly after: unknown
  readonly pipelines?: { readonly before: Explained; readonly after: Explained }
  readonly over?: {
    readonly callers: readonly { readonly scope: string; readonly spentUsd: number }[]
    readonly isComplete: boolean
  }
  readonly yaml: string
  /** Reason why the dashboard cannot store it. */
  readonly locked: string | null
}

/** Reads a field: a list for model names and plugins, a number where it is one; empty restores the default. */
function parsedText(name: string, text: string): unknown {
  const trimmed = text.trim()
  if (name.startsWith('models.') || name === 'pipeline.off') {
    const list = trimmed.split(',').flatMap((item) => item.trim() || [])
    return list.length === 0 ? null : list
  }
  if (trimmed === '') return null
  return name.startsWith('costs.') && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed
}

/** Form that changes one option: value, preview of its effects, then the change. */
export function ChangeForm({
  name,
  value,
  onDone,
  onClose,
}: {
  name: string
  value: unknown
  onDone: () => void
  onClose: () => void
}) {
  const [text, setText] = useState(Array.isArray(value) ? value.join(', ') : value === undefined ? '' : String(value))
  const [preview, setPreview] = useState<Preview>()
  const { attempt, error } = useAttempt()
  const wanted = { name, value: parsedText(name, text) }
  const show = (event: Event) => {
    event.preventDefault()
    void attempt(async () => setPreview(await call<Preview>(`${PATH}/preview`, { method: 'POST', body: wanted })))
  }
  const apply = () =>
    attempt(async () => {
      await call(PATH, { method: 'POST', body: wanted })
      onDone()
    })
  return (
    <form onSubmit={show} class="filters" aria-label={`Change ${name}`}>
      <label class="search">
        <span>{name}</span>
        <input
          value={text}
          placeholder="empty: the default"
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            setPreview(undefined)
          }}
        />
      </label>
      <button type="submit">Preview</button>
      {preview !== undefined && preview.locked === null && (
        <button type="button" class="primary" onClick={apply}>
          Change it
        </button>
      )}
      <button type="button" class="quiet" onClick={onClose}>
        Cancel
      </button>
      {preview !== undefined && <Effects {...preview} />}
      {error && <Failure error={error} />}
    </form>
  )
}

function Effects({ before, after, pipelines, over, yaml, locked }: Preview) {
  return (
    <div class="effects" role="status">
      <p>
        <code>{printed(before)}</code> → <code>{printed(after)}</code>
      </p>
      {pipelines !== undefined && (
        <p>
          Pipeline of requests that name none: <code>{pipelines.before.printed}</code> →{' '}
          <code>{pipelines.after.printed}</code>
        </p>
      )}
      {over !== undefined && (
        <p>
          {over.callers.length === 0
            ? 'No caller has reached it.'
            : `Refused from now on${over.isComplete ? '' : ', among others'}: ${over.callers
                .map(({ scope, spentUsd }) => `${scope} (${usd(spentUsd * NANO_USD)})`)
                .join(', ')}`}{' '}
          <span class="muted">A cap counts from the time it is set.</span>
        </p>
      )}
      {locked !== null && <p class="notice">{locked}</p>}
      <div class="snippet">
        <pre>{yaml}</pre>
        <Copy text={yaml} label="Copy as YAML" />
      </div>
    </div>
  )
}
