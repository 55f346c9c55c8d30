import test from 'ava'
import { parseEvents } from '../support/events.ts'
import { openFixture } from '../support/fixture.ts'
import { ask, type Reply } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { toMessage } from '../support/provider/answers.ts'
import { toEvents, toSse } from '../support/provider/message-events.ts'
import type { Script } from '../support/provider/script.ts'

const fixture = await openFixture({ config: { providers: { timeouts: { idle: '2s' } } } })
test.after.always(async () => fixture.close())
test.after('breaks: nothing is left of all of them', (t) => fixture.assertClean(t))

const body = { max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
const events = toEvents(toMessage({ body, nth: 1 }, { text: 'Some words that are streamed one by one' }))
const bytes = toSse(events)
/** Offsets of the events' ends. */
const ends = events.map((_event, index) => toSse(events.slice(0, index + 1)).length)
const middle = ends[4]!

const breaks: Record<string, { script: Script; delivered: number }> = {
  'is cut between two events': { script: { kind: 'sse', bytes, cutAfterBytes: middle }, delivered: middle },
  'is cut within an event': { script: { kind: 'sse', bytes, cutAfterBytes: middle + 20 }, delivered: middle },
  'is cut before the last line end': {
    script: { kind: 'sse', bytes, cutAfterBytes: bytes.length - 1 },
    delivered: ends.at(-2)!,
  },
  'is cut within its first event': { script: { kind: 'sse', bytes, cutAfterBytes: 25 }, delivered: 0 },
  'ends cleanly before message_stop': {
    script: { kind: 'sse', bytes: toSse(events.slice(0, -1)) },
    delivered: ends.at(-2)!,
  },
  'ends cleanly within an event': { script: { kind: 'sse', bytes: bytes.subarray(0, middle + 9) }, delivered: middle },
  'falls silent between two events': {
    script: { kind: 'sse', bytes, writes: { sizes: [middle], between: { until: new Promise(() => {}) } } },
    delivered: middle,
  },
  'falls silent within an event': {
    script: { kind: 'sse', bytes, writes: { sizes: [middle + 7], between: { until: new Promise(() => {}) } } },
    delivered: middle,
  },
  'falls silent before its first event': { script: { kind: 'hang', at: 'after-headers' }, delivered: 0 },
  'is compressed and cut': {
    script: { kind: 'sse', bytes, encoding: 'gzip', writes: { sizes: [middle, 20] }, cutAfterBytes: middle + 20 },
    delivered: middle,
  },
}

/** Asserts whole events of the provider, then one `error` event in its shape, then a clean end. */
function assertBroken(
  t: { is: (a: unknown, b: unknown) => void; regex: (a: string, b: RegExp) => void },
  reply: Reply,
  delivered: number,
) {
  t.is(reply.status, 200)
  t.is(reply.text.slice(0, delivered), bytes.toString('utf8', 0, delivered))
  const added = parseEvents(reply.text.slice(delivered))
  t.is(added.length, 1)
  t.is(added[0]?.event, 'error')
  t.is(valueAt(added[0]?.data, 'type'), 'error')
  t.is(valueAt(added[0]?.data, 'error.type'), 'api_error')
  t.regex(String(valueAt(added[0]?.data, 'error.message')), /./)
  t.is(reply.endedCleanly, true)
}

for (const pipe of ['none', 'exact-cache']) {
  for (const [claim, { script, delivered }] of Object.entries(breaks)) {
    test(`breaks: a stream that ${claim} gives whole events, then an error event, then its end (${pipe})`, async (t) => {
      const scenario = fixture.scenario(script)
      const reply = await scenario.send({
        body: ask(`${pipe} ${claim}`, { stream: true }),
        headers: { 'x-svc-pipe': pipe },
      })
      assertBroken(t, reply, delivered)
      t.is(scenario.seen().length, 1)
      await fixture.assertSound(t, scenario)
    })
  }
}

test('breaks: a broken stream is not stored: the same request is asked again and may succeed', async (t) => {
  const scenario = fixture.scenario((_request, nth) =>
    nth === 1 ? { kind: 'sse', bytes, cutAfterBytes: middle } : undefined,
  )
  const request = { body: ask('asked twice', { stream: true }), headers: { 'x-svc-pipe': 'exact-cache' } }
  assertBroken(t, await scenario.send(request), middle)
  const second = await scenario.send(request)
  t.is(second.headers['x-svc-cache'], 'miss')
  t.is(parseEvents(second.text).at(-1)?.event, 'message_stop')
  t.is(scenario.seen().length, 2)
})

for (const pipe of ['none', 'exact-cache']) {
  test(`breaks: an error event of the provider is passed on, and no second one is added (${pipe})`, async (t) => {
    const error =
      'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'
    const text = bytes.toString('utf8', 0, middle) + error
    for (const [name, script] of Object.entries({
      clean: { kind: 'sse', bytes: text },
      cut: { kind: 'sse', bytes: `${text} `, cutAfterBytes: text.length },
    } satisfies Record<string, Script>)) {
      const scenario = fixture.scenario(script)
      const reply = await scenario.send({
        body: ask(`${name} ${pipe} error event`, { stream: true }),
        headers: { 'x-svc-pipe': pipe },
      })
      t.is(reply.text, text, name)
      t.true(reply.endedCleanly, name)
      await fixture.assertSound(t, scenario)
    }
  })
}

test('breaks: bytes after message_stop are passed on, and the stream is whole', async (t) => {
  const text = `${bytes}event: future\ndata: {}\n\n`
  const reply = await fixture.scenario({ kind: 'sse', bytes: text }).send({ body: ask('more', { stream: true }) })
  t.is(reply.text, text)
})

test('breaks: a cut after message_stop is no break', async (t) => {
  const scenario = fixture.scenario({ kind: 'sse', bytes: `${bytes} `, cutAfterBytes: bytes.length })
  const reply = await scenario.send({ body: ask('whole', { stream: true }) })
  t.is(reply.text, bytes.toString())
  t.true(reply.endedCleanly)
})

test('breaks: a stream of something that is not events is reported as broken', async (t) => {
  const scenario = fixture.scenario({ kind: 'sse', bytes: Buffer.alloc(5000, 0xfe) })
  const reply = await scenario.send({ body: ask('garbage', { stream: true }) })
  t.is(parseEvents(reply.text).at(-1)?.event, 'error')
  await fixture.assertSound(t, scenario)
})
