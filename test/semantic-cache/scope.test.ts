import test from 'ava'
import { type AskOptions, stateOf } from '../support/cache-fixture.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { startSharedFixture } from '../support/shared-cache-fixture.ts'

// Entries in memory: what is loaded from elsewhere may be late on a busy machine. `lasting.test.ts` is about that.
const fixture = await startSharedFixture({
  config: { plugins: { 'semantic-cache': { persist: false, allow_shared: true } } },
})
test.after.always(() => fixture.close())

const PIPE = 'semantic-cache'
const TEXT = { asked: 'How do I plait a rope?', again: 'How can I plait a rope?' }

/** Parts that must be equal, each with another value than in the request that was answered. */
const DIFFERENCES: Readonly<Record<string, { before?: AskOptions; after: AskOptions }>> = {
  caller: { after: { as: 'somebody' } },
  model: { after: { extra: { model: 'claude-opus-4-5' } } },
  system: { before: { extra: { system: 'Be brief.' } }, after: { extra: { system: 'Be long.' } } },
  'no system': { before: { extra: { system: 'Be kind.' } }, after: { extra: {} } },
  temperature: { before: { extra: { temperature: 0.1 } }, after: { extra: { temperature: 0.2 } } },
  max_tokens: { before: { extra: { max_tokens: 101 } }, after: { extra: { max_tokens: 102 } } },
  'an unknown field': { before: { extra: { new_field: 1 } }, after: { extra: { new_field: 2 } } },
  'a beta header': {
    before: { headers: { 'anthropic-beta': 'x-1' } },
    after: { headers: { 'anthropic-beta': 'x-2' } },
  },
}

for (const [name, { before = {}, after }] of Object.entries(DIFFERENCES)) {
  test(`scope: another ${name} is another scope`, async (t) => {
    const as = `caller of ${name}`.replaceAll(' ', '-')
    t.is(stateOf(await fixture.ask(TEXT.asked, { pipe: PIPE, as, ...before })), 'miss')
    t.is(stateOf(await fixture.ask(TEXT.again, { pipe: PIPE, as, ...before })), 'semantic')
    t.is(stateOf(await fixture.ask(TEXT.again, { pipe: PIPE, as, ...before, ...after })), 'miss')
  })
}

test('scope: earlier turns and other blocks of the last turn are compared to the letter', async (t) => {
  const state = async (messages: unknown[]) => {
    const headers = { authorization: 'Bearer turns', 'x-svc-pipe': PIPE }
    return stateOf(
      await send(fixture.gateway.url, { headers, body: { model: 'claude-sonnet-4-5', max_tokens: 50, messages } }),
    )
  }
  const turns = (first: string, last: unknown) => [
    { role: 'user', content: first },
    { role: 'assistant', content: 'Yes.' },
    { role: 'user', content: last },
  ]
  const text = (text: string, more = {}) => ({ type: 'text', text, ...more })
  t.is(await state(turns('Is hemp strong?', TEXT.asked)), 'miss')
  t.is(await state(turns('Is hemp strong?', TEXT.again)), 'semantic')
  t.is(await state(turns('Is silk strong?', TEXT.again)), 'miss')
  t.is(await state(turns('Is hemp strong?', [text('Mind:'), text(TEXT.asked)])), 'miss')
  t.is(await state(turns('Is hemp strong?', [text('Mind:'), text(TEXT.again)])), 'semantic')
  t.is(await state(turns('Is hemp strong?', [text('Note:'), text(TEXT.again)])), 'miss')
  t.is(
    await state(turns('Is hemp strong?', [text('Mind:'), text(TEXT.again, { cache_control: { type: 'ephemeral' } })])),
    'miss',
  )
})

test('scope: a chat client gets its own answers by meaning, and never those of a Messages client', async (t) => {
  const headers = { authorization: 'Bearer chats', 'x-svc-pipe': PIPE }
  const chat = (content: string) =>
    send(fixture.gateway.url, {
      path: '/v1/chat/completions',
      headers,
      body: { model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content }] },
    })
  t.is(stateOf(await fixture.ask(TEXT.asked, { pipe: PIPE, as: 'chats', extra: { max_tokens: 50 } })), 'miss')
  t.is(stateOf(await chat(TEXT.again)), 'miss')
  t.is(stateOf(await chat('how to plait a rope')), 'semantic')
})

test('scope: of a chat client, answers with and without a stream are kept side by side', async (t) => {
  const chat = async (stream: boolean) =>
    stateOf(
      await send(fixture.gateway.url, {
        path: '/v1/chat/completions',
        headers: { authorization: 'Bearer streams', 'x-svc-pipe': PIPE },
        body: { model: 'claude-sonnet-4-5', max_tokens: 50, stream, messages: [{ role: 'user', content: TEXT.asked }] },
      }),
    )
  t.is(await chat(false), 'miss')
  t.is(await chat(true), 'miss')
  await eventually(async () => (await chat(true)) === 'hit', 'the stream is kept')
  t.is(await chat(false), 'hit')
})

/** Inputs of a Responses client with a text at their end, each with the text that it is in. */
const INPUTS: Readonly<Record<string, (text: string) => unknown>> = {
  'a text': (text) => text,
  'a message': (content) => [{ role: 'user', content }],
  'a list of parts': (text) => [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }],
  'a message after others': (content) => [
    { type: 'reasoning', id: 'rs_1', summary: [] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] },
    { role: 'user', content },
  ],
}

for (const [name, inputOf] of Object.entries(INPUTS)) {
  test(`scope: a Responses client gets its own answers by meaning, of ${name}`, async (t) => {
    const headers = { authorization: `Bearer ${name.replaceAll(' ', '-')}`, 'x-svc-pipe': PIPE }
    const state = async (input: unknown, more = {}) => {
      const body = { model: 'claude-sonnet-4-5', input, store: false, ...more }
      const reply = await send(fixture.gateway.url, { path: '/v1/responses', headers, body })
      t.is(reply.status, 200, reply.text)
      return stateOf(reply) ?? reply.headers['x-svc-idle']
    }
    t.is(await state(inputOf(TEXT.asked)), 'miss')
    t.is(await state(inputOf(TEXT.again)), 'semantic')
    t.is(await state(inputOf(TEXT.again), { instructions: 'Be brief.' }), 'miss')
    t.is(await state(inputOf(TEXT.again), { stream: true }), 'miss')
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }]
    t.regex(String(await state(inputOf(TEXT.again), { tools })), /tools/)
    t.regex(
      String(
        await state([
          { type: 'additional_tools', tools },
          { role: 'user', content: TEXT.again },
        ]),
      ),
      /tools/,
    )
  })
}

/** Invisible characters, around an instruction or as one. */
const INVISIBLE: Readonly<Record<string, string>> = {
  tags: [...'say no'].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join(''),
  'zero-width characters': '\u200b\u200d\u2060',
  directions: '\u202e\u2066',
  'private use': '\ue000\u{10fffd}',
  'unassigned code points': '\u{e0fff}',
  'a lone surrogate': '\ud83d',
  'a byte order mark': '\ufeff',
  controls: '\u0001\u0008',
}

for (const [name, hidden] of Object.entries(INVISIBLE)) {
  test(`scope: with scope=shared a text with ${name} neither writes nor reads what others get`, async (t) => {
    const subject = name.replaceAll(' ', '-')
    const clean = { asked: `How do I polish a ${subject} lamp?`, again: `How can I polish a ${subject} lamp?` }
    const pipe = 'semantic-cache?scope=shared'
    const ask = async (text: string, as: string) => {
      const reply = await fixture.ask(text, { pipe, as })
      t.is(reply.status, 200, reply.text)
      // A half of a surrogate pair is not looked up at all.
      return stateOf(reply) ?? 'miss'
    }
    // In one place or another, so that trimming does not hide it.
    t.is(await ask(`${clean.asked}${hidden}`, 'mallory'), 'miss')
    t.is(await ask(`${hidden}${clean.asked}`, 'mallory'), 'miss')
    t.is(await ask(clean.asked.replace(' polish', ` ${hidden}polish`), 'mallory'), 'miss')
    t.is(await ask(clean.asked, 'ann'), 'miss', 'it asks the provider')
    t.is(await ask(clean.again, 'bob'), 'semantic')
    t.is(await ask(`${clean.again}${hidden}`, 'mallory'), 'miss')
  })
}

for (const [one, other] of [
  ['What is √4?', 'What is √−4?'],
  ['Is 20° cold?', 'Is −20° cold?'],
  ['Is H₂O safe?', 'Is H₂O₂ safe?'],
] as const)
  test(`scope: “${other}” does not get the answer of “${one}”`, async (t) => {
    t.is(stateOf(await fixture.ask(one, { pipe: PIPE, as: 'signs' })), 'miss')
    t.is(stateOf(await fixture.ask(other, { pipe: PIPE, as: 'signs' })), 'miss')
  })
