import test from 'ava'
import { assertMessageStream } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { ask } from '../support/http-client.ts'
import { openPluginFixture } from '../support/plugin-fixture.ts'
import { type PluginParts, pluginSource } from '../support/plugin-folders.ts'
import { holdEvent, type Script } from '../support/provider/script.ts'

/** Plugins that meet a streamed reply after `next()`. */
const PLUGINS: Record<string, PluginParts> = {
  'by-reply': { run: `await next(); exchange.reply = jsonReply({ instead: true })` },
  'by-body': { run: `await next(); ctx.body = { instead: true }` },
  'by-error': { run: `await next(); throw new GatewayError('permission_error', 'not this one')` },
  'by-failure': { onError: 'refuse', run: `await next(); throw new Error('boom')` },
  'late-failure': { run: `await next(); throw new Error('boom')` },
  tap: {
    needs: ['log'],
    run: `await next()
      const names = []
      exchange.reply.onEvent((name, data) => { names.push(name); JSON.parse(data) })
      exchange.reply.ended.then(({ outcome, usage }) => services.log.info({ outcome, usage, names }, 'tap.ended'))`,
  },
  'one-event': {
    needs: ['log'],
    run: `await next()
      const seen = []
      exchange.reply.onEvent((name) => seen.push(name), new Set(['message_stop']))
      exchange.reply.ended.then(() => services.log.info({ seen }, 'one-event.ended'))`,
  },
}

const fixture = await openPluginFixture(
  Object.fromEntries(Object.entries(PLUGINS).map(([name, parts]) => [`${name}/index.ts`, pluginSource(name, parts)])),
  { config: { providers: { tries: 1 }, plugins: { watch: false } } },
)
test.after('plugin streams: nothing is left of all that', (t) => fixture.assertClean(t))
test.after.always(() => fixture.close())

/** A stream that continues when its client has disconnected. */
const endless: Script = { kind: 'answer', text: 'one two three four', writes: holdEvent(2, new Promise(() => {})) }

function askThrough(scenario: ReturnType<typeof fixture.scenario>, pipe: string) {
  return scenario.send({ body: ask('hello', { stream: true }), headers: { 'x-svc-pipe': pipe } })
}

for (const [pipe, status] of [
  ['by-reply', 200],
  ['by-body', 200],
  ['by-error', 403],
  ['by-failure', 503],
] as const) {
  test(`plugin streams: a stream that ${pipe} is never opened holds no connection`, async (t) => {
    const scenario = fixture.scenario(endless)
    const reply = await askThrough(scenario, pipe)
    t.is(reply.status, status, reply.text)
    if (status === 200) t.deepEqual(reply.json, { instead: true })
    t.is(await scenario.seen()[0]?.closed, 'client-left')
  })
}

test('plugin streams: one that fails after next() leaves the stream as it came', async (t) => {
  const scenario = fixture.scenario({ kind: 'answer', text: 'as it came' })
  const reply = await askThrough(scenario, 'late-failure')
  t.is(reply.status, 200)
  t.is(assertMessageStream(reply.body).at(-1)?.event, 'message_stop')
})

test('plugin streams: a tap sees every event, and the client gets the provider’s bytes', async (t) => {
  const bytes = [
    `event: message_start\ndata: {"type":"message_start","message":{"id":"msg_tap","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}\n\n`,
    `event: content_block_start\r\ndata:{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\r\n\r\n`,
    `event: ping\ndata: {"type": "ping"}\n\n`,
    `: a comment\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"h\\u00e9 \u{1f600}"}}\n\n`,
    `event: content_block_stop\ndata: {"type":"content_block_stop","index":0 }\n\n`,
    `event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}\n\n`,
    `event: message_stop\ndata: {"type":"message_stop"}\n\n`,
  ].join('')
  const scenario = fixture.scenario({ kind: 'sse', bytes, writes: { sizes: [7, 1, 30] } })
  const reply = await askThrough(scenario, 'tap,one-event')
  t.is(reply.body.toString(), bytes)
  await eventually(() => /one-event\.ended/.test(fixture.gateway.log()), 'both taps have ended')
  const lines = fixture.gateway.log().split('\n')
  const tapped = JSON.parse(String(lines.find((line) => line.includes('tap.ended'))))
  t.like(tapped, { outcome: 'complete', usage: { inputTokens: 3, outputTokens: 5 } })
  t.deepEqual(tapped.names, [
    'message_start',
    'content_block_start',
    'ping',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ])
  t.deepEqual(JSON.parse(String(lines.find((line) => line.includes('one-event.ended')))).seen, ['message_stop'])
})
