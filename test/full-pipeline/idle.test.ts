import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'
import { openPluginFixture } from '../support/plugin-fixture.ts'

/** Modules that have nothing to do for a greeting, without caps; the caches always look. */
const IDLE = [
  'semantic-cache',
  'loop-guard',
  'prune-tools',
  'preserve',
  'compress',
  'patterns',
  'prompt-cache',
  'cost-guard',
]
const LINE = 'const answer = 42 // the answer to everything'
const TOOLS = Array.from({ length: 12 }, (_, index) => ({
  name: `tool_${index}`,
  description: `Does thing ${index}. ${'It has a long description. '.repeat(120)}`,
  input_schema: { type: 'object' },
}))

const fixture = await openPluginFixture({}, { env: { SVC_PIPELINE: FULL_PIPELINE } })
test.after.always(() => fixture.close())

function bodyOf(more: JsonObject): JsonObject {
  return { model: 'claude-sonnet-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'Hello.' }], ...more }
}

test('idle: modules with nothing to do say so, and why, in the reply', async (t) => {
  const scenario = fixture.scenario()
  const reply = await scenario.send({ body: bodyOf({ tools: TOOLS }) })
  const idle = String(reply.headers['x-svc-idle'])
  t.regex(
    idle,
    /semantic-cache="tools", loop-guard="nothing repeats", prune-tools="12 tools: nothing to prune", preserve="nothing to preserve", compress="no results of tools", patterns="/,
  )
})

test('idle: modules that do something are not among them', async (t) => {
  const scenario = fixture.scenario()
  const messages = [
    { role: 'user', content: '<keep>Go.</keep>' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'run', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: `${LINE}   \n`.repeat(200) }] },
  ]
  const reply = await scenario.send({ body: bodyOf({ messages }) })
  const idle = String(reply.headers['x-svc-idle'])
  t.regex(idle, /prune-tools="no tools"/)
  t.notRegex(idle, /compress|preserve/)
})

test('idle: the request’s page has the reasons, of each module that has no other word', async (t) => {
  const scenario = fixture.scenario()
  const reply = await scenario.send({ body: bodyOf({ tools: TOOLS.slice(0, 2), temperature: 0.5 }) })
  const steps = await stepsOf(String(reply.headers['x-svc-receipt']))
  t.deepEqual(
    steps.filter(({ action }) => action === 'idle').map(({ module }) => module),
    IDLE,
  )
  for (const { module, action, details } of steps) {
    t.not(action, 'ran', module)
    if (action === 'idle') t.regex(String(details?.reason), /\w/, module)
  }
})

interface Step {
  readonly module: string
  readonly action: string
  readonly details?: { readonly reason?: unknown }
}

/** The trace of a request, when the gateway has written it. */
async function stepsOf(id: string): Promise<readonly Step[]> {
  const find = () => send(fixture.gateway.url, { method: 'GET', path: `/dashboard/api/requests/${id}` })
  await eventually(async () => (await find()).status === 200, 'a row')
  // Safe: the gateway's own shape.
  return ((await find()).json as unknown as { request: { trace: { steps: readonly Step[] } } }).request.trace.steps
}
