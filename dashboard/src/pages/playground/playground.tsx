import { useEffect, useState } from 'preact/hooks'
import { call } from '../../api.ts'
import { moment, visible } from '../../format.ts'
import { PipelineEditor } from '../../parts/pipeline-editor.tsx'
import { Failure } from '../../parts/states.tsx'
import { play } from '../../play.ts'
import type { RequestDetail } from '../../request-detail.ts'
import type { Route } from '../../route.ts'
import { useSession } from '../../session.tsx'
import { useData } from '../../use-data.ts'
import { bodyOf, FIRST_DRAFT, unstreamed } from './draft.ts'
import { DraftFields } from './draft-fields.tsx'
import { Models, modelsOf } from './models.tsx'
import { NAMES, Results, type Run } from './results.tsx'

const PAST = '/dashboard/api/requests?limit=50'
const PATHS = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  agent: '/v1/messages',
} as const

/** Page that sends one message through two pipelines, or to two or three models, side by side. */
export function PlaygroundPage({ route }: { route: Route }) {
  const { pipeline, plugins } = useSession()
  const [draft, setDraft] = useState(FIRST_DRAFT)
  const [pipelines, setPipelines] = useState<readonly [string, string]>([pipeline, 'none'])
  const [credential, setCredential] = useState('')
  const [others, setOthers] = useState('')
  const [runs, setRuns] = useState<readonly Run[]>([])
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<Error>()
  const from = route.query.get('from')
  useEffect(() => {
    if (from === null) return
    call<RequestDetail>(`/dashboard/api/requests/${encodeURIComponent(from)}`)
      .then(({ request, capture }) => {
        if (capture === null || capture.request.isCut)
          throw new Error('The body of this request was not kept whole, so it cannot be sent again.')
        setDraft({ ...FIRST_DRAFT, body: unstreamed(capture.request.text), path: PATHS[request.route] })
        setPipelines([request.pipeline, 'none'])
        setRuns([])
        setError(undefined)
      })
      .catch(setError)
  }, [from])
  const models = draft.body === undefined ? modelsOf(draft.model, others) : []
  const shown = models.length > 1 ? NAMES.slice(0, 1) : NAMES
  const run = async () => {
    setRunning(true)
    setRuns([])
    const request = { path: draft.path, credential: credential.trim() || 'playground' }
    const wanted =
      models.length > 1
        ? models.map((model) => ({ name: model, body: bodyOf({ ...draft, model }), pipeline: pipelines[0] }))
        : NAMES.map((name, index) => ({ name, body: bodyOf(draft), pipeline: pipelines[index] ?? '' }))
    const send = async ({ name, ...sent }: (typeof wanted)[number]) => ({
      name,
      played: await play({ ...request, ...sent }),
    })
    setRuns(await Promise.all(wanted.map(send)))
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
        {draft.body === undefined && <Models value={others} onChange={setOthers} />}
        <Credential value={credential} onChange={setCredential} />
        <div class="two">
          {shown.map((name, index) => (
            <PipelineEditor
              key={name}
              label={models.length > 1 ? 'Pipeline of all' : `Pipeline ${name}`}
              value={pipelines[index] ?? ''}
              modules={plugins}
              // Safe: there are two, and one is replaced.
              onChange={(text) => setPipelines((old) => old.with(index, text) as [string, string])}
            />
          ))}
        </div>
        <button type="submit" class="primary" disabled={isRunning}>
          {isRunning ? 'Running…' : models.length > 1 ? `Run ${models.length} models` : 'Run both'}
        </button>
      </form>
      <Results runs={runs} />
    </>
  )
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
      <span>Credential: any word; each has its own scope</span>
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
