import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'
import { holdEvent } from '../support/provider/script.ts'
import { type Agent, openAgentFixture, readChallenge } from './agent-fixture.ts'

/** A plugin that delays a reply that has begun. */
const dawdler = pluginSource('dawdler', {
  needs: ['log'],
  run: `await next()
    services.log.info({}, 'dawdler.waiting')
    await new Promise((resolve) => setTimeout(resolve, 200))`,
})
let removePlugins = () => {}
const teardown = (remove: () => void) => {
  removePlugins = remove
}
const plugins = createPluginDirectory({ teardown }, { 'dawdler/index.ts': dawdler })
const agentFixture = await openAgentFixture({ SVC_PLUGINS_DIR: plugins.path })
test.after.always(() => removePlugins())
test.after.always(agentFixture.close)

const PATH = '/v1/agent/sessions'

/** Buys a session of ten calls, and gives what pays for each. */
async function buy(agent: Agent): Promise<string> {
  const challenge = readChallenge(await agent.send({ path: PATH }))
  const token = agent.grant({ maxCents: 50 })
  const authorization = `Payment ${Buffer.from(JSON.stringify({ challenge, payload: { spt: token } })).toString('base64url')}`
  return String(valueAt((await agent.send({ path: PATH, headers: { authorization } })).json, 'authorization'))
}

async function left(agent: Agent, authorization: string): Promise<unknown> {
  return valueAt((await agent.send({ method: 'GET', path: PATH, headers: { authorization } })).json, 'calls_remaining')
}

for (const stream of [false, true]) {
  const kind = stream ? 'a stream' : 'JSON'
  test(`default pipeline: of two equal calls of a session the one that is left is not charged, ${kind}`, async (t) => {
    const begin = Promise.withResolvers<void>()
    const agent = agentFixture.agent({ kind: 'answer', before: { until: begin.promise } })
    const authorization = await buy(agent)
    const leaving = new AbortController()
    const request = { body: ask(`the same, ${kind}`, { stream }), headers: { authorization } }
    const first = agent.send({ ...request, signal: leaving.signal }).catch(() => undefined)
    await agentFixture.fixture.provider.until(() => agent.calls() === 1)
    const second = agent.send(request)
    await eventually(async () => (await left(agent, authorization)) === 8, 'both have a call')
    leaving.abort()
    await first
    begin.resolve()
    t.is((await second).status, 200)
    t.is(agent.calls(), 1)
    t.is(await left(agent, authorization), 9)
  })
}

test('default pipeline: a payer that disconnects before the reply has begun leaves no unhandled error', async (t) => {
  const agent = agentFixture.agent({ kind: 'answer', writes: holdEvent(0, new Promise(() => {})) })
  const authorization = await buy(agent)
  const leaving = new AbortController()
  const body = ask('left before the first event', { stream: true })
  const headers = { authorization, 'x-svc-pipe': 'exact-cache,dawdler,cost-guard' }
  const asked = agent.send({ body, headers, signal: leaving.signal }).catch(() => undefined)
  await eventually(() => agentFixture.fixture.gateway.log().includes('dawdler.waiting'), 'the reply has begun')
  leaving.abort()
  await asked
  await agentFixture.fixture.assertSound(t, agent.scenario)
})
