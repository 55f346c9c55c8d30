import test from 'ava'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import type { ErrorScript, Script } from '../support/provider/script.ts'
import { loadErrors, toScript } from '../support/recordings.ts'

const [fixture, hasty] = await Promise.all([
  openFixture({ config: { providers: { reply_limit: '64KB' } } }),
  openFixture({ config: { providers: { timeouts: { first_byte: '1s', idle: '1s' } } } }),
])
test.after.always(() => Promise.all([fixture.close(), hasty.close()]))
test.after('faults: nothing is left of all of them', (t) =>
  Promise.all([fixture.assertClean(t), hasty.assertClean(t)]).then(),
)

const requests = { json: { body: ask('hello there') }, stream: { body: ask('hello there', { stream: true }) } }
const overloaded: ErrorScript = { kind: 'error', status: 529 }

/** Faults by which a provider gives no reply at all; a retry may help. */
const breaks: Record<string, Script> = {
  'resets before the headers': { kind: 'break', at: 'before-headers' },
  'breaks within the headers': { kind: 'break', at: 'mid-headers' },
  'answers garbage': { kind: 'garbage' },
  'closes without a reply': { kind: 'garbage', bytes: '' },
  'answers 500': { kind: 'error', status: 500 },
  'answers 503 in HTML': { kind: 'reply', status: 503, body: '<h1>no</h1>', headers: { 'content-type': 'text/html' } },
  'answers 529': overloaded,
}

for (const [kind, request] of Object.entries(requests)) {
  for (const [claim, script] of Object.entries(breaks)) {
    test(`faults: a provider that ${claim} once is asked again and the client never knows (${kind})`, async (t) => {
      const scenario = fixture.scenario((_request, nth) => (nth < 2 ? script : undefined))
      const reply = await scenario.send(request)
      t.is(reply.status, 200)
      t.true(reply.endedCleanly)
      t.is(scenario.seen().length, 2)
      t.deepEqual(scenario.seen()[0]?.raw, scenario.seen()[1]?.raw)
      await fixture.assertSound(t, scenario)
    })

    test(`faults: a provider that ${claim} every time is asked three times, then it is 502 (${kind})`, async (t) => {
      const scenario = fixture.scenario(script)
      const reply = await scenario.send(request)
      t.is(reply.status, 502)
      t.like(reply.json, { type: 'error', error: { type: 'upstream_error' } })
      t.regex(String(valueAt(reply.json, 'error.message')), /anthropic failed after 3 tries/)
      t.is(scenario.seen().length, 3)
      await fixture.assertSound(t, scenario)
    })
  }
}

const HINT = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'
const MESSAGE =
  '{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}'
const LAST = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${MESSAGE.length}\r\n\r\n${MESSAGE}`

for (const [hints, status] of [
  [60, 200],
  [300, 502],
] as const)
  test(`faults: ${hints} informational replies before the final one: ${status}`, async (t) => {
    const scenario = fixture.scenario({ kind: 'garbage', bytes: HINT.repeat(hints) + LAST })
    const reply = await scenario.send(requests.json)
    t.is(reply.status, status, reply.text)
    if (status === 502) t.regex(reply.text, /informational/)
    t.is(scenario.seen().length, 1)
    await fixture.assertSound(t, scenario)
  })

/** Answers that were made, and are paid, and cannot be used. */
const spoilt: Record<string, Script> = {
  'breaks off': { kind: 'answer', cutAfterBytes: 40 },
  'is compressed and damaged': { kind: 'reply', body: 'not gzip', headers: { 'content-encoding': 'gzip' } },
  'is compressed and breaks off': { kind: 'answer', encoding: 'br', writes: { sizes: [20] }, cutAfterBytes: 60 },
  'has an encoding that is not known': { kind: 'reply', body: '{}', headers: { 'content-encoding': 'x-future' } },
  'is over the limit': { kind: 'reply', body: { text: 'x'.repeat(100_000) } },
}

for (const [claim, script] of Object.entries(spoilt)) {
  test(`faults: a JSON reply that ${claim} is 502 after one call, and no part of it reaches the client`, async (t) => {
    const scenario = fixture.scenario(script)
    const reply = await scenario.send(requests.json)
    t.is(reply.status, 502)
    t.like(reply.json, { error: { type: 'upstream_error' } })
    t.is(scenario.seen().length, 1)
    await fixture.assertSound(t, scenario)
  })
}

const never = new Promise(() => {})

for (const status of [200, 500]) {
  test(`faults: a body of ${status} that cannot be decoded and does not end holds no connection`, async (t) => {
    const headers = { 'content-encoding': 'x-future' }
    const writes = { sizes: [10], between: (done: number) => (done === 1 ? { until: never } : undefined) }
    const scenario = fixture.scenario({ kind: 'reply', status, body: 'x'.repeat(100), headers, writes })
    t.is((await scenario.send(requests.json)).status, 502)
    await fixture.assertSound(t, scenario)
    t.true(scenario.seen().every(({ ended }) => ended === 'client-left'))
  })
}

const dripping = { sizes: [1], between: { delayMs: 100 } }

test('faults: a client that leaves while an error drips in is not waited for', async (t) => {
  const scenario = fixture.scenario({ ...overloaded, message: 'x'.repeat(1000), writes: dripping })
  const leaving = new AbortController()
  const asked = scenario.send({ ...requests.json, signal: leaving.signal }).catch(() => undefined)
  await fixture.provider.until(() => scenario.seen().length === 1)
  leaving.abort()
  await asked
  await fixture.assertSound(t, scenario)
  t.deepEqual(
    scenario.seen().map(({ ended }) => ended),
    ['client-left'],
  )
})

test('faults: a body that drips in is given up, an error and tried again, an answer and not', async (t) => {
  for (const [script, calls] of [
    [{ ...overloaded, message: 'x'.repeat(1000), writes: dripping }, 3],
    [{ kind: 'answer', text: 'x'.repeat(1000), writes: dripping }, 1],
  ] as const) {
    const scenario = hasty.scenario(script)
    t.is((await scenario.send(requests.json)).status, 502)
    t.is(scenario.seen().length, calls)
    await hasty.assertSound(t, scenario)
    t.true(scenario.seen().every(({ ended }) => ended === 'client-left'))
  }
})

for (const [kind, request] of Object.entries(requests)) {
  test(`faults: a provider that does not answer in time is 502 and is not asked again (${kind})`, async (t) => {
    const scenario = hasty.scenario({ kind: 'hang', at: 'before-headers' })
    const reply = await scenario.send(request)
    t.is(reply.status, 502)
    t.like(reply.json, { error: { type: 'upstream_error' } })
    t.is(scenario.seen().length, 1)
    await hasty.assertSound(t, scenario)
  })
}

test('faults: a JSON reply that stops within is 502 and is not asked for again', async (t) => {
  const writes = { sizes: [20], between: { until: new Promise(() => {}) } }
  const scenario = hasty.scenario({ kind: 'answer', writes })
  const reply = await scenario.send(requests.json)
  t.is(reply.status, 502)
  t.is(scenario.seen().length, 1)
  await hasty.assertSound(t, scenario)
})

test('faults: token counts and model lists are tried again as well', async (t) => {
  for (const request of [
    { ...requests.json, path: '/v1/messages/count_tokens' },
    { method: 'GET', path: '/v1/models' },
  ]) {
    const scenario = fixture.scenario((_request, nth) => (nth < 2 ? overloaded : undefined))
    t.is((await scenario.send(request)).status, 200)
    t.is(scenario.seen().length, 2)
  }
})

test('faults: the text of the provider’s error reaches the client in the message', async (t) => {
  const scenario = fixture.scenario({ ...overloaded, message: 'Overloaded, try tomorrow' })
  t.regex(String(valueAt((await scenario.send(requests.json)).json, 'error.message')), /529: Overloaded, try tomorrow/)
})

test('faults: retry-after of a 5xx is waited for', async (t) => {
  const headers = { 'retry-after': '1' }
  const scenario = fixture.scenario((_request, nth) => (nth < 2 ? { ...overloaded, headers } : undefined))
  const reply = await scenario.send(requests.json)
  t.is(reply.status, 200)
  t.true(Number(reply.chunks[0]?.atMs) >= 980, 'the reply came before retry-after was over')
})

test('faults: retry-after as a date is waited for', async (t) => {
  const headers = { 'retry-after': new Date(Date.now() + 2000).toUTCString() }
  const scenario = fixture.scenario((_request, nth) => (nth < 2 ? { ...overloaded, headers } : undefined))
  t.is((await scenario.send(requests.json)).status, 200)
})

for (const value of ['0', '-5', 'soon', '', '1e400', 'NaN']) {
  test(`faults: the odd retry-after \`${value}\` does no harm`, async (t) => {
    const headers = { 'retry-after': value }
    const scenario = fixture.scenario((_request, nth) => (nth < 2 ? { ...overloaded, headers } : undefined))
    t.is((await scenario.send(requests.json)).status, 200)
  })
}

const limited = (headers: Record<string, string>): ErrorScript => ({ kind: 'error', status: 429, headers })

test('faults: a 429 that passes within two seconds is waited for', async (t) => {
  const scenario = fixture.scenario((_request, nth) => (nth < 2 ? limited({ 'retry-after': '1' }) : undefined))
  const reply = await scenario.send(requests.stream)
  t.is(reply.status, 200)
  t.is(scenario.seen().length, 2)
  t.true(Number(reply.chunks[0]?.atMs) >= 980)
})

for (const headers of [{ 'retry-after': '3' }, { 'retry-after': '3600' }, {}]) {
  test(`faults: a 429 with ${JSON.stringify(headers)} reaches the client as it is`, async (t) => {
    const scenario = fixture.scenario({ ...limited(headers), message: 'Number of requests has exceeded your limit' })
    const reply = await scenario.send(requests.stream)
    t.is(reply.status, 429)
    t.like(reply.json, { error: { type: 'rate_limit_error', message: 'Number of requests has exceeded your limit' } })
    t.like(reply.headers, { ...headers, 'anthropic-ratelimit-requests-limit': '4000' })
    t.regex(String(reply.headers['request-id']), /StandIn/)
    t.is(scenario.seen().length, 1)
  })
}

test('faults: a 429 that stays after three tries reaches the client as it is', async (t) => {
  const scenario = fixture.scenario(limited({ 'retry-after': '0' }))
  const reply = await scenario.send(requests.json)
  t.is(scenario.seen().length, 3)
  t.is(reply.status, 429)
  t.like(reply.json, { error: { type: 'rate_limit_error' } })
  t.is(reply.headers['retry-after'], '0')
})

for (const status of [400, 401, 402, 403, 404, 409, 413, 422]) {
  test(`faults: a ${status} of the provider reaches the client as it is and is not asked again`, async (t) => {
    const body = `{ "error" : {"type":"x", "n":1.0, "message":"No ${status}"} }\n`
    const scenario = fixture.scenario({ kind: 'reply', status, body })
    const reply = await scenario.send(requests.stream)
    t.is(reply.status, status)
    t.is(reply.text, body)
    t.is(scenario.seen().length, 1)
  })
}

for (const { name, response } of loadErrors().items.filter((error) => error.response.status >= 500)) {
  test(`faults: recorded failure ${name} is 502 after three tries`, async (t) => {
    const scenario = fixture.scenario(toScript(response))
    t.is((await scenario.send(requests.json)).status, 502)
    t.is(scenario.seen().length, 3)
  })
}

test('faults: a redirect is followed neither here nor by the client, as it would carry a key elsewhere', async (t) => {
  const headers = { location: 'http://127.0.0.1:1/elsewhere' }
  const scenario = fixture.scenario({ kind: 'reply', status: 307, body: '{}', headers })
  const reply = await scenario.send(requests.json)
  t.is(reply.status, 502)
  t.regex(reply.text, /answered 307, a redirect/)
  t.is(reply.headers.location, undefined)
  t.is(scenario.seen().length, 1)
})

test('faults: a provider that refuses connections is 502, and is found again when it is back', async (t) => {
  await using other = await openFixture({ env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } })
  const reply = await other.scenario().send(requests.stream)
  t.is(reply.status, 502)
  t.regex(String(valueAt(reply.json, 'error.message')), /3 tries.*ECONNREFUSED/)
  t.is((await other.scenario().send({ method: 'GET', path: '/health' })).status, 200)
  await other.assertClean(t)
})
