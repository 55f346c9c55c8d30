import test from 'ava'
import { assembleCompletion } from '../support/chat-chunks.ts'
import { isDrill, sampled } from '../support/drill.ts'
import { assembleMessage, assertMessageStream } from '../support/events.ts'
import type { Reply } from '../support/http-client.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import { MODELS, openProviderFixture, type ProviderName } from '../support/provider-fixture.ts'
import { assertResponseStream } from '../support/response-rules.ts'
import { answerOf, type Cut, type ScriptedReply, streamOf } from './cut-streams.ts'

const MAIL = 'canary1@acme-corp.io'
/** Needs escapes in JSON. */
const WORD = 'Project "Falcon"\n\\ 7'
const fixture = await openProviderFixture({ config: { plugins: { watch: false, redact: { words: [WORD] } } } })
test.after.always(() => fixture.close())

const schema = { type: 'object', properties: {}, additionalProperties: true }
const question = `I am ${MAIL}, and this is ${WORD}`

const CLIENTS = {
  messages: {
    path: '/v1/messages',
    body: {
      max_tokens: 1000,
      tools: [{ name: 'send', description: 'Sends', input_schema: schema }],
      messages: [{ role: 'user', content: question }],
    },
    read: (reply: Reply, stream: boolean) =>
      stream ? assembleMessage(assertMessageStream(reply.body)) : Object(reply.json),
  },
  chat: {
    path: '/v1/chat/completions',
    body: {
      tools: [{ type: 'function', function: { name: 'send', description: 'Sends', parameters: schema } }],
      messages: [{ role: 'user', content: question }],
    },
    read: (reply: Reply, stream: boolean) => (stream ? assembleCompletion(reply.body) : Object(reply.json)),
  },
  responses: {
    path: '/v1/responses',
    body: {
      tools: [{ type: 'function', name: 'send', description: 'Sends', parameters: schema, strict: false }],
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: question }] }],
    },
    read: (reply: Reply, stream: boolean) => {
      const { output, status } = stream ? assertResponseStream(withDone(reply.text)) : Object(reply.json)
      return { output, status }
    },
  },
}
const CLIENT_NAMES = ['messages', 'chat', 'responses'] as const
const TARGETS: readonly ProviderName[] = ['anthropic', 'house', 'gemini', 'responder', 'openai']
const PAIRS = CLIENT_NAMES.flatMap((client) => TARGETS.map((provider) => ({ client, provider }))).filter(
  // Its own stream, relayed, has not all members that the check of chat streams expects.
  ({ client, provider }) => client !== 'chat' || provider !== 'house',
)
/** Each client with a provider of its own dialect, and with those of others that are translated differently. */
const SAMPLED = sampled(PAIRS, 0, 2, 5, 8, 12)

/** A reply with each value behind beginnings of several lengths, so that cuts of a fixed size are at all of its places. */
function replyWith([mail = '', word = '']: readonly string[]): ScriptedReply {
  const shifts = ['', 'R', 'RE', 'a RED ', 'ab "', 'abc\\', 'abcd\n']
  const text = shifts.map((shift) => `${shift}${mail} ${word}`).join(' ')
  return {
    text: `Sent to ${text}.`,
    input: Object.fromEntries(shifts.map((shift, i) => [`p${i}`, `${shift}${mail}${word}`])),
  }
}

/** Returns the placeholders of the mail and the word in a request. */
function placeholdersIn({ raw }: SeenRequest): string[] {
  return ['EMAIL', 'CUSTOM'].map((kind) => RegExp(`REDACTED_${kind}_[0-9A-Z]{12}`).exec(raw.toString())?.[0] ?? '')
}

interface Case {
  readonly client: (typeof CLIENT_NAMES)[number]
  readonly provider: ProviderName
  readonly stream: boolean
  /** Pieces of texts and arguments; default: those of the stand-in, a byte in each write. */
  readonly cut?: Cut
}

/** Asks through the pipeline; returns what the client reads, without what differs by request. */
async function answer({ client, provider, stream, cut }: Case, pipeline: string) {
  const isGuarded = pipeline === 'redact'
  const script = (_nth: number, request: SeenRequest): object => {
    const reply = replyWith(isGuarded ? placeholdersIn(request) : [MAIL, WORD])
    if (cut === undefined)
      return { kind: 'answer', ...answerOf(provider, reply), writes: { sizes: [1], atMost: 20_000 } }
    return { kind: 'sse', bytes: streamOf(provider, reply, { body: Object(request.json), cut }) }
  }
  const scenario = fixture.scenario({ [provider]: script })
  const { path, body, read } = CLIENTS[client]
  const headers = { 'x-svc-pipe': pipeline }
  const usage = client === 'chat' && stream ? { stream_options: { include_usage: true } } : {}
  const reply = await scenario.send({ path, headers, body: { ...body, ...usage, model: MODELS[provider], stream } })
  if (reply.status !== 200) throw new Error(reply.text)
  const isLeaked = scenario.seen(provider).some(({ raw }) => /canary1@|Falcon/.test(raw.toString()))
  return { isLeaked, message: comparable(read(reply, stream)) }
}

/** Adds the end that only the gateway's own streams have. */
function withDone(stream: string): string {
  return stream.includes('[DONE]') ? stream : `${stream}data: [DONE]\n\n`
}

/** Leaves out ids, times and counts. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(
    ([name]) => !/^(?:id|call_id|created|created_at|completed_at|usage)$/.test(name),
  )
  return Object.fromEntries(kept.map(([name, member]) => [name, comparable(member)]))
}

const everyCharacter: Cut = (text) => [...text]
const inTwo =
  (place: number): Cut =>
  (text) =>
    [text.slice(0, place % text.length), text.slice(place % text.length)].filter((piece) => piece !== '')
const cuts: readonly Cut[] = [
  everyCharacter,
  ...Array.from({ length: isDrill ? 400 : 1 }, (_, place) => inTwo(17 + place * (isDrill ? 1 : 23))),
]

for (const { client, provider } of SAMPLED) {
  for (const stream of [false, true])
    test(`redact: a reply is restored to that without the plugin, a byte in each write: ${client}, ${provider}, stream ${stream}`, async (t) => {
      const one: Case = { client, provider, stream }
      const [guarded, plain] = [await answer(one, 'redact'), await answer(one, 'none')]
      t.deepEqual(guarded.message, plain.message)
      t.true(JSON.stringify(plain.message).includes(MAIL))
      t.deepEqual([guarded.isLeaked, plain.isLeaked], [false, true])
    })
  test(`redact: a stream is restored to that without the plugin, wherever its texts are cut: ${client}, ${provider}`, async (t) => {
    const one: Case = { client, provider, stream: true }
    const plain = await answer({ ...one, cut: everyCharacter }, 'none')
    for (const cut of cuts) t.deepEqual((await answer({ ...one, cut }, 'redact')).message, plain.message)
  })
}
