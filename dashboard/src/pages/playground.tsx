import { useEffect, useState } from 'preact/hooks'
import { call } from '../api.ts'
import { count, duration, moment, NOTHING, percent, usd, visible } from '../format.ts'
import { StatusBadge } from '../parts/badges.tsx'
import { PipelineEditor } from '../parts/pipeline-editor.tsx'
import { savedOf } from '../parts/request-columns.tsx'
import { Failure } from '../parts/states.tsx'
import { Diff } from '../parts/text.tsx'
import { Waterfall } from '../parts/waterfall.tsx'
import { type Played, play } from '../play.ts'
import type { RequestDetail } from '../request-detail.ts'
import type { Route } from '../route.ts'
import { useSession } from '../session.tsx'
import { useData } from '../use-data.ts'

const PAST = '/dashboard/api/requests?limit=50'
const PATHS = { messages: '/v1/messages', chat: '/v1/chat/completions', agent: '/v1/messages' } as const
const NAMES = ['A', 'B'] as const

/** What is asked: a few fields, or a body as it is. */
interface Draft {
  readonly model: string
  readonly maxTokens: number
  readonly system: string
  readonly message: string
  /** Instead of the fields, unless it is unset. */
  readonly body: string | undefined
  readonly path: string
}

const FIRST: Draft = {
  model: 'demo/echo',
  maxTokens: 200,
  system: '',
  message: 'What is a ford?',
  body: undefined,
  path: '/v1/messages',
}

/** One message through two pipelines, side by side. */
export function PlaygroundPage({ route }: { route: Route }) {
  const { pipeline, plugins } = useSession()
  const [draft, setDraft] = useState(FIRST)
  const [pipelines, setPipelines] = useState<readonly [string, string]>([pipeline, 'none'])
  const [credential, setCredential] = useState('')
  const [played, setPlayed] = useState<readonly [Played?, Played?]>([])
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<Error>()
  const from = route.query.get('from')
  useEffect(() => {
    if (from === null) return
    call<RequestDetail>(`/dashboard/api/requests/${encodeURIComponent(from)}`)
      .then(({ request, capture }) => {
        if (capture === null || capture.request.isCut)
          throw new Error('The body of this request was not kept whole, so it cannot be sent again.')
        setDraft({ ...FIRST, body: unstreamed(capture.request.text), path: PATHS[request.route] })
        setPipelines([request.pipeline, 'none'])
        setPlayed([])
        setError(undefined)
      })
      .catch(setError)
  }, [from])
  const run = async () => {
    setRunning(true)
    setPlayed([])
    const request = { path: draft.path, body: bodyOf(draft), credential: credential.trim() || 'playground' }
    setPlayed(
      await Promise.all([play({ ...request, pipeline: pipelines[0] }), play({ ...request, pipeline: pipelines[1] })]),
    )
    setRunning(false)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    void run()
  }
  return (
    <>
      <div class="page-head">
        <h1>Playground</h1>
        <PastRequests chosen={from ?? ''} />
      </div>
      {error && <Failure error={error} />}
      <form class="playground" onSubmit={submit}>
        <DraftFields draft={draft} onChange={(part) => setDraft((old) => ({ ...old, ...part }))} />
        <Credential value={credential} onChange={setCredential} />
        <div class="two">
          {NAMES.map((name, index) => (
            <PipelineEditor
              key={name}
              label={`Pipeline ${name}`}
              value={pipelines[index] ?? ''}
              modules={plugins}
              // Safe: two there are, and one is replaced.
              onChange={(text) => setPipelines((old) => old.with(index, text) as [string, string])}
            />
          ))}
        </div>
        <button type="submit" class="primary" disabled={isRunning}>
          {isRunning ? 'Running…' : 'Run both'}
        </button>
      </form>
      <Results played={played} />
    </>
  )
}

/** Streams are for programs: what is compared here is the whole. */
function unstreamed(text: string): string {
  try {
    const { stream: _, stream_options: __, ...body } = JSON.parse(text) as Record<string, unknown>
    return JSON.stringify(body, undefined, 2)
  } catch {
    return text
  }
}

function bodyOf({ body, model, maxTokens, system, message }: Draft): string {
  if (body !== undefined) return body
  return JSON.stringify({
    model,
    max_tokens: maxTokens,
    ...(system !== '' && { system }),
    messages: [{ role: 'user', content: message }],
  })
}

function Credential({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const { mode } = useSession()
  const shared = {
    value,
    autocomplete: 'off',
    onInput: (event: Event) => onChange((event.target as HTMLInputElement).value),
  }
  return mode === 'cloud' ? (
    <label>
      <span>API key, for this page only</span>
      <input type="password" required placeholder="svc_live_…" {...shared} />
    </label>
  ) : (
    <label>
      <span>Credential: any word; each is a scope of its own</span>
      <input placeholder="playground" {...shared} />
    </label>
  )
}

function PastRequests({ chosen }: { chosen: string }) {
  const { has } = useSession()
  const { data } = useData<{ data: RequestDetail['request'][] }>(has.telemetry && has.capture ? PAST : undefined)
  const past = data?.data ?? []
  if (past.length === 0) return null
  return (
    <select
      aria-label="Load a past request"
      value={chosen}
      onChange={({ currentTarget }) => {
        location.hash = `#/playground?from=${currentTarget.value}`
      }}
    >
      <option value="" disabled>
        Load a past request…
      </option>
      {past.map(({ id, startedAtMs, modelAsked, pipeline }) => (
        <option key={id} value={id}>
          {moment(startedAtMs)} {visible(modelAsked)} ({visible(pipeline)})
        </option>
      ))}
    </select>
  )
}

function DraftFields({ draft, onChange }: { draft: Draft; onChange: (part: Partial<Draft>) => void }) {
  if (draft.body !== undefined)
    return (
      <label>
        <span>Body, sent to {draft.path}</span>
        <textarea
          rows={14}
          value={draft.body}
          spellcheck={false}
          onInput={({ currentTarget }) => onChange({ body: currentTarget.value })}
        />
      </label>
    )
  return (
    <>
      <div class="filters">
        <label>
          <span>Model</span>
          <input
            value={draft.model}
            required
            onInput={({ currentTarget }) => onChange({ model: currentTarget.value })}
          />
        </label>
        <label>
          <span>Most tokens</span>
          <input
            type="number"
            min={1}
            value={draft.maxTokens}
            onInput={({ currentTarget }) => onChange({ maxTokens: currentTarget.valueAsNumber || 1 })}
          />
        </label>
        <button
          type="button"
          class="quiet"
          onClick={() => onChange({ body: JSON.stringify(JSON.parse(bodyOf(draft)), undefined, 2) })}
        >
          Edit as JSON
        </button>
      </div>
      <label>
        <span>System, if any</span>
        <textarea
          rows={2}
          value={draft.system}
          onInput={({ currentTarget }) => onChange({ system: currentTarget.value })}
        />
      </label>
      <label>
        <span>Message</span>
        <textarea
          rows={5}
          value={draft.message}
          onInput={({ currentTarget }) => onChange({ message: currentTarget.value })}
        />
      </label>
    </>
  )
}

function Results({ played }: { played: readonly [Played?, Played?] }) {
  const [first, second] = played
  if (first === undefined || second === undefined) return null
  return (
    <section aria-labelledby="results">
      <h2 id="results">What came of it</h2>
      <Compared first={first} second={second} />
      <div class="two">
        {[first, second].map((one, index) => (
          <Result key={index} name={NAMES[index] ?? ''} {...one} />
        ))}
      </div>
      <h3>Answers compared, A to B</h3>
      <Diff before={first.text} after={second.text} label="Answers compared" />
    </section>
  )
}

/** The figures side by side, and what B has more or less than A. */
function Compared({ first, second }: { first: Played; second: Played }) {
  const tokensOf = ({ detail }: Played) => detail?.request.tokens
  const rows: [
    name: string,
    value: (one: Played) => number | null | undefined,
    print: (value?: number | null) => string,
  ][] = [
    ['Cost', ({ detail }) => detail?.request.costNanoUsd, usd],
    ['Saved', ({ detail }) => detail && savedOf(detail.request), usd],
    ['Tokens in', (one) => tokensOf(one)?.input, count],
    ['Tokens out', (one) => tokensOf(one)?.output, count],
    ['Took', ({ tookMs }) => tookMs, duration],
    ['Gateway’s own time', ({ detail }) => detail?.request.gatewayMs, duration],
  ]
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Figures compared">
      <table>
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col">A</th>
            <th scope="col">B</th>
            <th scope="col">B against A</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, value, print]) => {
            const [a, b] = [value(first), value(second)]
            return (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{print(a)}</td>
                <td>{print(b)}</td>
                <td>{changeOf(a, b)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** How much more or less the second is, in per cent of the first. */
function changeOf(first: number | null | undefined, second: number | null | undefined): string {
  if (typeof first !== 'number' || typeof second !== 'number') return NOTHING
  if (first === second) return 'same'
  if (first === 0) return NOTHING
  return `${second > first ? '+' : '−'}${percent(Math.abs(second / first - 1))}`
}

function Result({ name, status, text, ran, receiptId, detail }: Played & { name: string }) {
  const request = detail?.request
  return (
    <article class="result" aria-label={`Result of pipeline ${name}`}>
      <div class="bar">
        <h3>{name}</h3>
        <StatusBadge status={status} outcome={request?.outcome ?? (status === 200 ? 'complete' : 'error')} />
        <code>{visible(ran)}</code>
        {receiptId !== '' && request !== undefined && <a href={`#/request/${receiptId}`}>Look into it</a>}
      </div>
      <pre class="scroll" tabIndex={0} role="region" aria-label={`Answer ${name}`}>
        {visible(text)}
      </pre>
      {request !== undefined && <Waterfall {...request} steps={request.trace.steps} />}
    </article>
  )
}
