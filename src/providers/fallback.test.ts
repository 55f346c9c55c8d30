import test from 'ava'
import { openExchange } from '../../test/support/exchange.ts'
import { GatewayError } from '../core/errors.ts'
import type { Provider } from '../core/ports/provider.ts'
import { jsonReply } from '../core/reply/reply.ts'
import type { Target } from '../core/request/exchange.ts'
import { completeWithFallback } from './fallback.ts'

/** A target's behaviour: it replies with this status, throws this, or runs this. */
type Deed = number | Error | (() => never)

/** Calls targets with these behaviours; returns the targets called, and the result. */
function run(deeds: readonly [Deed, ...Deed[]], signal?: AbortSignal) {
  const targets = deeds.map((_, index) => ({ provider: `p${index}`, model: 'm' })) as unknown as [Target, ...Target[]]
  const body = '{"model":"x","messages":[{"role":"user","content":"hi"}]}'
  const exchange = openExchange({ body, targets, ...(signal !== undefined && { signal }) })
  const asked: string[] = []
  const get = (name: string) => {
    const complete = async () => {
      asked.push(name)
      const deed = deeds[Number(name.slice(1))]
      if (typeof deed === 'number') return jsonReply({}, { status: deed })
      throw typeof deed === 'function' ? deed() : deed
    }
    return { name, complete } as unknown as Provider
  }
  return { exchange, asked, result: completeWithFallback(exchange, get) }
}

const down = (name: string) => new GatewayError('upstream_error', `${name} is down`)
const refusal = new GatewayError('invalid_request', 'cannot be sent this')
const stranger = new GatewayError('authentication_error', 'no credential')

for (const [claim, deeds, status, asked] of [
  ['the first that replies is the last called', [200, 200], 200, 1],
  ['one that is down is skipped', [down('a'), 200, 200], 200, 2],
  ['one over its limit is skipped', [429, 200], 200, 2],
  ['one that cannot be sent the request is skipped, unless it is the first', [down('a'), refusal, 200], 200, 3],
  ['one for which the caller has no credential is skipped, unless it is the first', [down('a'), stranger, 200], 200, 3],
  ['a client error is a reply', [404, 200], 404, 1],
  ['the only one may be over its limit', [429], 429, 1],
  ['of several limits the first is the reply', [429, 429], 429, 2],
  ['a fallback that refuses is skipped', [down('a'), 401, 200], 200, 3],
  ['a fallback to which the request is invalid is skipped', [down('a'), 400, 200], 200, 3],
  ['a limit before a failure is the reply', [429, down('b')], 429, 2],
  ['a limit before two failures is the reply', [429, down('b'), down('c')], 429, 3],
] as [string, [Deed, ...Deed[]], number, number][]) {
  test(`fallback: ${claim}`, async (t) => {
    const { result, asked: names } = run(deeds)
    t.is((await result).status, status)
    t.is(names.length, asked)
  })
}

for (const [claim, deeds, message, asked] of [
  ['the first failure is thrown', [down('a'), down('b')], 'a is down', 2],
  ['the first failure is thrown, whatever the others were', [down('a'), refusal, stranger], 'a is down', 3],
  ['a failure before a limit is thrown', [down('a'), 429, down('c')], 'a is down', 3],
  ['the first failure is thrown, not a fallback’s own', [down('a'), 404], 'a is down', 2],
  ['the first failure is thrown, not a fallback’s limit', [down('a'), 429], 'a is down', 2],
  ['an internal error in a fallback is thrown', [down('a'), new TypeError('a bug')], 'a bug', 2],
  ['a request that the first cannot be sent ends it', [refusal, 200], 'cannot be sent this', 1],
  ['a caller without a credential for the first ends it', [stranger, 200], 'no credential', 1],
  ['an internal error ends it', [new TypeError('a bug'), 200], 'a bug', 1],
] as [string, [Deed, ...Deed[]], string, number][]) {
  test(`fallback: ${claim}`, async (t) => {
    const { result, asked: names } = run(deeds)
    await t.throwsAsync(result, { message })
    t.is(names.length, asked)
  })
}

test('fallback: the targets called, and their results, are recorded', async (t) => {
  const { exchange, result } = run([down('a'), 429, 200])
  await result
  t.deepEqual(exchange.calls, [
    { provider: 'p0', model: 'm', outcome: 'failed', status: undefined },
    { provider: 'p1', model: 'm', outcome: 'failed', status: 429 },
    { provider: 'p2', model: 'm', outcome: 'answered', status: 200 },
  ])
})

test('fallback: the reply names its target', async (t) => {
  t.is((await run([down('a'), 200]).result).headers['x-svc-model'], 'p1/m')
  t.is((await run([429, down('b')]).result).headers['x-svc-model'], 'p0/m')
})

test('fallback: after a client disconnect no further target is called, and the reason is thrown', async (t) => {
  const leaving = new AbortController()
  const left = () => {
    leaving.abort(new Error('the client left'))
    throw down('a')
  }
  const { result, asked } = run([left, 200], leaving.signal)
  await t.throwsAsync(result, { message: 'the client left' })
  t.is(asked.length, 1)
})

test('fallback: a long model name is truncated in the header, which clients could not accept otherwise', async (t) => {
  const targets: [Target] = [{ provider: 'p', model: '日'.repeat(20_000) }]
  const exchange = openExchange({ body: '{"model":"x","messages":[{"role":"user","content":"hi"}]}', targets })
  const provider = { complete: async () => jsonReply({}) } as unknown as Provider
  const reply = await completeWithFallback(exchange, () => provider)
  const name = String(reply.headers['x-svc-model'])
  t.true(name.length < 4000 && decodeURI(name).startsWith('p/日日'), name)
})
