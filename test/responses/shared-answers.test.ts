import test from 'ava'
import { stateOf, untilHandled } from '../support/cache-fixture.ts'
import { eventually } from '../support/eventually.ts'
import { valueAt } from '../support/json.ts'
import { MODELS, openProviderFixture } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({ env: { SVC_PIPELINE: 'exact-cache' } })
test.after.always(() => fixture.close())

const PATH = '/v1/responses'

for (const stream of [false, true]) {
  test(`shared answers: the response of a leader that has left is its followers' (stream: ${stream})`, async (t) => {
    const gate = Promise.withResolvers<void>()
    t.teardown(gate.resolve)
    const created = { id: `resp_shared_${stream}`, object: 'response', status: 'completed', store: true, output: [] }
    const whole = { ...created, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } }
    const event = `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: whole })}\n\n`
    const script = stream
      ? ({ kind: 'sse', bytes: event, before: { until: gate.promise } } as const)
      : ({ kind: 'reply', body: whole, before: { until: gate.promise } } as const)
    const scenario = fixture.scenario({ responder: (nth) => (nth === 1 ? script : undefined) })
    const body = { model: MODELS.responder, input: t.title, stream }
    const leaving = new AbortController()
    const leader = scenario.send({ path: PATH, body, signal: leaving.signal })
    await eventually(() => scenario.seen('responder').length === 1, 'the provider is called')
    const sent = Promise.withResolvers<void>()
    const follower = scenario.send({ path: PATH, body, onSent: sent.resolve })
    await sent.promise
    await untilHandled(fixture.gateway)
    leaving.abort()
    await leader
    await untilHandled(fixture.gateway)
    gate.resolve()
    const reply = await follower
    t.is(reply.status, 200, reply.text)
    t.is(stateOf(reply), 'attached')
    const next = { model: MODELS.responder, input: 'Go on.', previous_response_id: whole.id }
    const continued = await scenario.send({ path: PATH, body: next })
    t.is(continued.status, 200, continued.text)
    t.is(scenario.seen('responder').length, 2)
    t.is(valueAt(scenario.seen('responder')[1]?.json, 'previous_response_id'), whole.id)
  })
}
