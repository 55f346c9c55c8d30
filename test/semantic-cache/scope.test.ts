import test from 'ava'
import { type AskOptions, startStage, stateOf } from '../support/cache-stage.ts'
import { send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'

// Entries in memory: what is loaded from elsewhere may be late on a busy machine. `lasting.test.ts` is about that.
const stage = await startStage({ config: { plugins: { 'semantic-cache': { persist: false } } } })
test.after.always(() => stage.close())

const PIPE = 'semantic-cache'
const TEXT = { asked: 'How do I plait a rope?', again: 'How can I plait a rope?' }

/** What may not differ, each with another value than the request that was answered. */
const DIFFERENCES: Readonly<Record<string, { before?: AskOptions; after: AskOptions }>> = {
  caller: { after: { as: 'somebody' } },
  model: { after: { extra: { model: 'claude-opus-4-5' } } },
  system: { before: { extra: { system: 'Be brief.' } }, after: { extra: { system: 'Be long.' } } },
  'no system': { before: { extra: { system: 'Be kind.' } }, after: { extra: {} } },
  temperature: { before: { extra: { temperature: 0.1 } }, after: { extra: { temperature: 0.2 } } },
  max_tokens: { before: { extra: { max_tokens: 101 } }, after: { extra: { max_tokens: 102 } } },
  'an unknown field': { before: { extra: { new_field: 1 } }, after: { extra: { new_field: 2 } } },
  tools: {
    before: { extra: { tools: [tool('a')] } },
    after: { extra: { tools: [tool('b')] } },
  },
  'a beta header': {
    before: { headers: { 'anthropic-beta': 'x-1' } },
    after: { headers: { 'anthropic-beta': 'x-2' } },
  },
}

function tool(name: string): JsonObject {
  return { name, input_schema: { type: 'object' } }
}

for (const [name, { before = {}, after }] of Object.entries(DIFFERENCES)) {
  test(`scope: another ${name} is another scope`, async (t) => {
    const as = `caller of ${name}`.replaceAll(' ', '-')
    t.is(stateOf(await stage.ask(TEXT.asked, { pipe: PIPE, as, ...before })), 'miss')
    t.is(stateOf(await stage.ask(TEXT.again, { pipe: PIPE, as, ...before })), 'semantic')
    t.is(stateOf(await stage.ask(TEXT.again, { pipe: PIPE, as, ...before, ...after })), 'miss')
  })
}

test('scope: earlier turns and other blocks of the last turn are compared to the letter', async (t) => {
  const state = async (messages: unknown[]) => {
    const headers = { authorization: 'Bearer turns', 'x-svc-pipe': PIPE }
    return stateOf(
      await send(stage.gateway.url, { headers, body: { model: 'claude-sonnet-4-5', max_tokens: 50, messages } }),
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
    send(stage.gateway.url, {
      path: '/v1/chat/completions',
      headers,
      body: { model: 'claude-sonnet-4-5', max_tokens: 50, messages: [{ role: 'user', content }] },
    })
  t.is(stateOf(await stage.ask(TEXT.asked, { pipe: PIPE, as: 'chats', extra: { max_tokens: 50 } })), 'miss')
  t.is(stateOf(await chat(TEXT.again)), 'miss')
  t.is(stateOf(await chat('how to plait a rope')), 'semantic')
})
