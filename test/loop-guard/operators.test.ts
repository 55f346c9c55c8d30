import test from 'ava'
import { startKeeper } from '../responses/state-fixture.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { inputOf, messagesOf, SAME } from '../support/looping.ts'
import { MODELS, openProviderFixture } from '../support/provider-fixture.ts'

const keeper = await startKeeper()
const section = { base_url: `${keeper.url}/v1`, keys: [{ api_key: 'keeper-key' }], api: 'responses' }
const fixture = await openProviderFixture({
  config: {
    providers: { tries: 1, 'openai-compatible': { keeper: section } },
    pipeline: { default: 'loop-guard', locked: ['loop-guard'] },
    plugins: { 'loop-guard': { mode: 'refuse', after: 4 } },
    responses: { keep: true },
  },
})
test.after.always(async () => {
  await fixture.close()
  await keeper.close()
})

const steps = (count: number) => Array.from({ length: count }, () => SAME)
const statusOf = async (title: string, count: number, pipe?: string) => {
  const body = { model: MODELS.anthropic, max_tokens: 100, messages: messagesOf(steps(count), title) }
  const headers = pipe === undefined ? {} : { 'x-svc-pipe': pipe }
  return (await fixture.scenario().send({ body, headers })).status
}

test('loop-guard: a caller can tighten what the operator has set, and not relax it', async (t) => {
  t.deepEqual([await statusOf(t.title, 3), await statusOf(t.title, 4)], [200, 400])
  t.is(await statusOf(t.title, 4, 'none'), 400)
  t.is(await statusOf(t.title, 4, 'loop-guard?mode=note'), 400)
  t.is(await statusOf(t.title, 4, 'loop-guard?after=50'), 400)
  t.is(await statusOf(t.title, 3, 'loop-guard?after=3'), 400)
})

const create = (body: JsonObject) =>
  fixture.scenario().send({ path: '/v1/responses', body, headers: { authorization: 'Bearer loop-caller' } })

/** Sends a task, then each step as a continuation of the response before it; returns the replies. */
async function continued(model: string, title: string, count: number) {
  const [task, ...items] = inputOf(steps(count), title)
  const replies = [await create({ model, store: true, input: [task ?? {}] })]
  for (let index = 0; index < items.length; index += 2) {
    const previous = String(valueAt(replies.at(-1)?.json, 'id'))
    replies.push(
      await create({ model, store: true, previous_response_id: previous, input: items.slice(index, index + 2) }),
    )
  }
  return replies
}

test('loop-guard: a conversation that its provider has stored is not read, and the reply has the reason', async (t) => {
  const replies = await continued('keeper/gpt-4o', t.title, 5)
  t.deepEqual([...new Set(replies.map(({ status }) => status))], [200], replies.at(-1)?.text)
  t.regex(String(replies.at(-1)?.headers['x-svc-idle']), /loop-guard="the provider has the history"/)
})

test('loop-guard: a conversation that the gateway has stored is read as a whole', async (t) => {
  const replies = await continued(MODELS.anthropic, t.title, 4)
  t.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200, 400],
    replies.at(-1)?.text,
  )
})

for (const [path, trigger] of [
  ['/v1/responses/compact', []],
  ['/v1/responses', [{ type: 'compaction_trigger' }]],
] as const) {
  for (const model of [MODELS.anthropic, MODELS.responder]) {
    test(`loop-guard: a conversation that repeats itself can be compacted (${path}, ${model})`, async (t) => {
      const body = { model, store: false, input: [...inputOf(steps(5), t.title), ...trigger] }
      const scenario = fixture.scenario({ anthropic: { kind: 'answer', text: 'A summary.' } })
      const reply = await scenario.send({ path, body })
      t.is(reply.status, 200, reply.text)
    })
  }
}
