import test from 'ava'
import { type Message, RequestDocument } from 'turnpike/plugin'
import { openExchange } from '../../test/support/exchange.ts'
import { Conversation } from './conversation.ts'
import { type PressurePolicy, underPressure } from './pressure.ts'
import { canClear } from './provider-editing.ts'
import { rawMessages } from './raw-message.ts'

const MINUTE_MS = 60_000
const policy: PressurePolicy = {
  settings: { startTokens: 3000, stepTokens: 2000, keepTokens: 500, keepResults: 1 },
  mayElide: (name) => name === 'Read',
  keyOf: (line) => line,
  coldAfterMs: 5 * MINUTE_MS,
}
const FILE = Array.from({ length: 150 }, (_, index) => `export const value${index} = compute(${index * 31})`).join('\n')

function reading(id: string, { name = 'Read', text = FILE }: { name?: string; text?: string } = {}): Message[] {
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input: { file_path: 'a.ts' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] },
  ]
}

const start: Message[] = [{ role: 'user', content: 'Go.' }, ...reading('a')]
const other = (id: string) => reading(id, { text: FILE.replaceAll('value', `${id}_value`) })

/**
 * Returns the conversation as the provider would receive it at a moment: the texts that replace the client's, by
 * message.
 */
function see(conversation: Conversation, messages: readonly Message[], nowMs = 0, given: Partial<PressurePolicy> = {}) {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 1, messages }))
  const raw = rawMessages(new RequestDocument(bytes), [])
  const whole = conversation.take(raw)
  const { taken, epochs } = underPressure(conversation, { messages: raw, whole, nowMs }, { ...policy, ...given })
  return { texts: taken.map(({ changes }) => changes[0]?.text), epochs }
}

test('pressure: nothing is elided before the conversation is full', (t) => {
  t.like(see(new Conversation(), start), { epochs: 0, texts: [undefined, undefined, undefined] })
})

test('pressure: when it is full, old results are elided, except those of other tools', (t) => {
  const messages = [...start, ...reading('m', { name: 'memory', text: FILE.replaceAll('const', 'let') }), ...other('b')]
  const { texts, epochs } = see(new Conversation(), messages)
  t.true(epochs > 0)
  t.regex(
    texts[2] ?? '',
    /^export const value0 = .*\[… \d+ lines elided by the gateway; repeat Read a\.ts to see them; they name /s,
  )
  t.is(texts[4], undefined)
  t.is(texts[6], undefined)
})

test('pressure: no pointer targets elided text', (t) => {
  const messages = [...start, ...other('b'), ...reading('c')]
  t.regex(see(new Conversation(), messages.slice(0, 3)).texts[2] ?? 'nothing', /nothing/)
  const { texts } = see(new Conversation(), messages)
  t.regex(texts[2] ?? '', /elided/)
  t.is(texts[6], undefined)
  t.regex(
    see(new Conversation(), messages, 0, { mayElide: () => false }).texts[6] ?? '',
    /^\[150 lines as in the earlier Read/,
  )
})

test('pressure: the next epoch does not change results that are elided already', (t) => {
  const conversation = new Conversation()
  const messages = [...start, ...other('b')]
  const seen = [see(conversation, messages)]
  for (const id of ['c', 'd', 'e']) {
    messages.push(...other(id))
    seen.push(see(conversation, messages))
  }
  t.true((seen.at(-1)?.epochs ?? 0) > (seen[0]?.epochs ?? 0))
  for (const { texts } of seen.slice(1)) t.is(texts[2], seen[0]?.texts[2])
})

test('pressure: a cold cache triggers one elision, which lasts when the cache is warm again', (t) => {
  const conversation = new Conversation()
  const messages = [...start, ...other('z'), ...reading('b', { text: 'ok' })]
  const settings = { ...policy.settings, startTokens: 100_000, keepTokens: 1 }
  t.is(see(conversation, messages, 0, { settings }).epochs, 0)
  t.is(see(conversation, messages, 4 * MINUTE_MS, { settings }).epochs, 0)
  const cold = see(conversation, messages, 10 * MINUTE_MS, { settings })
  t.is(cold.epochs, 1)
  t.regex(cold.texts[2] ?? '', /elided/)
  t.deepEqual(see(conversation, messages, 10 * MINUTE_MS, { settings }), cold)
  t.deepEqual(
    see(conversation, [...messages, ...other('c')], 11 * MINUTE_MS, { settings }).texts.slice(0, 7),
    cold.texts,
  )
  const never = { settings, coldAfterMs: undefined }
  t.is(see(conversation, start, 99 * MINUTE_MS, never).epochs, 0)
})

test('pressure: moving prompt-cache marks do not start another conversation', (t) => {
  const conversation = new Conversation()
  const mark = { cache_control: { type: 'ephemeral' } }
  const marked = (messages: readonly Message[]) =>
    messages.map((message, index) => {
      if (index < messages.length - 1 || typeof message.content === 'string') return message
      return { ...message, content: message.content.map((block) => ({ ...block, ...mark })) }
    }) as Message[] // safe: a mark fits every block here
  const [first] = rawOf(marked(start)).slice(-1)
  const [again] = rawOf(start).slice(-1)
  t.is(first?.identity, again?.identity)
  t.not(first?.exact, again?.exact)
  const foreign = reading('a', { text: '1→größer' })
  t.is(rawOf(marked(foreign)).at(-1)?.identity, rawOf(foreign).at(-1)?.identity, 'in any script')
  t.is(conversation.take(rawOf(marked(start)))[2], conversation.take(rawOf([...start, ...other('b')]))[2])
})

function rawOf(messages: readonly Message[]) {
  return rawMessages(new RequestDocument(Buffer.from(JSON.stringify({ model: 'm', max_tokens: 1, messages }))), [])
}

test('pressure: the provider clears old results only if every target can and the client allows it', (t) => {
  const body = '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"Go."}]}'
  const can = (providers: readonly [string, ...string[]], beta: string) => {
    const [first, ...others] = providers
    const target = (provider: string) => ({ provider, model: 'm' })
    const headers = { 'anthropic-beta': beta }
    return canClear(
      openExchange({ body, dialect: 'messages', targets: [target(first), ...others.map(target)], headers }),
    )
  }
  const beta = 'context-management-2025-06-27'
  t.true(can(['anthropic'], beta))
  t.true(can(['anthropic', 'anthropic'], `other, ${beta}`))
  t.false(can(['anthropic', 'bedrock'], beta))
  t.false(can(['openai', 'anthropic'], beta))
  t.false(can(['anthropic'], 'other'))
})
