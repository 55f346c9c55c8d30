import test from 'ava'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { openPluginFixture } from '../support/plugin-fixture.ts'
import { startProvider } from '../support/stand-in-provider.ts'

/** A plugin that answers at a path, and asks a model there, under a cap. */
const talker = (cap: string) => `
import { definePlugin, z } from 'turnpike/plugin'
export default definePlugin({
  name: 'talker', summary: 'Talks.', options: z.strictObject({}), perRequest: [], needs: ['models'], onError: 'bypass',
  routes: [{ method: 'POST', path: '/v1/talker/words' }, { method: 'GET', path: '/v1/models' }],
  setup: (options, { models }) => ({
    middleware: () => (ctx, next) => next(),
    routes: {
      'GET /v1/models': async () => ({ mine: true }),
      'POST /v1/talker/words': async ({ caller, body, signal }) => {
        const asked = { model: 'claude-haiku-4-5', max_tokens: 50, messages: [{ role: 'user', content: body.word }] }
        const { message, costNanoUsd } = await models.ask(asked, { pipeline: 'cost-guard?per_day=${cap}', signal })
        return { text: message.content[0].text, costNanoUsd, scope: caller.scope }
      },
    },
  }),
})`

const say = (url: string, body: unknown) =>
  send(url, { path: '/v1/talker/words', body: body as Record<string, unknown>, headers: { authorization: 'Bearer a' } })

test('plugins: a route is there as long as its plugin is, and none of the gateway’s own can be had', async (t) => {
  await using fixture = await openPluginFixture({ 'talker/index.ts': talker('1') })
  const { url } = fixture.gateway
  const said = await say(url, { word: 'hello' })
  t.is(said.status, 200, said.text)
  t.is(valueAt(said.json, 'text'), 'You said: hello')
  t.true(Number(valueAt(said.json, 'costNanoUsd')) > 0)
  t.is(said.headers['cache-control'], 'no-store')
  const models = await send(url, { method: 'GET', path: '/v1/models' })
  t.is(valueAt(models.json, 'mine'), undefined)
  t.is((await say(url, 'x'.repeat(140_000))).status, 413)
})

test('plugins: a call inside a call of a plugin’s own question is priced once', async (t) => {
  const counts = { input_tokens: 100, output_tokens: 20 }
  const advice = { type: 'advisor_message', model: 'claude-opus-4-5', input_tokens: 1000, output_tokens: 100 }
  const usage = { ...counts, iterations: [{ type: 'message', ...counts }, advice] }
  const script = () => ({ kind: 'answer', text: 'Advised.', usage }) as const
  const provider = await startProvider({ script })
  const env = { ANTHROPIC_BASE_URL: provider.url }
  await using fixture = await openPluginFixture({ 'talker/index.ts': talker('1') }, { env })
  const said = await say(fixture.gateway.url, { word: 'hello' })
  const haiku = 100 * 1000 + 20 * 5000
  const opus = 1000 * 5000 + 100 * 25_000
  t.is(valueAt(said.json, 'costNanoUsd'), haiku + opus)
  await provider.close()
})

test('plugins: what a plugin asks is refused over its own cap, and touches no caller’s', async (t) => {
  await using fixture = await openPluginFixture(
    { 'talker/index.ts': talker('0.000001') },
    { env: { SVC_COST_PER_DAY: '0.01', SVC_PIPELINE: 'talker,cost-guard' } },
  )
  const { url } = fixture.gateway
  const before = await send(url, { body: ask('hi') })
  t.is(before.status, 200)
  const refused = await say(url, { word: 'hello' })
  t.is(refused.status, 429)
  t.is(valueAt(refused.json, 'error.type'), 'cost_limit_per_day')
  t.is((await send(url, { body: ask('hi again') })).status, 200)
})
