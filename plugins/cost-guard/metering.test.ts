import test from 'ava'
import { openExchange } from '../../test/support/exchange.ts'
import { Expectation } from './expectation.ts'
import { answersOf, isMetered } from './metering.ts'

const ask = (fields: object, model = 'claude-sonnet-4-5') =>
  openExchange({
    dialect: 'messages',
    body: JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...fields }),
  })
const chat = (fields: object, model = 'gpt-4o') =>
  openExchange({ body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], ...fields }) })

const cases: [claim: string, exchange: ReturnType<typeof ask>, expected: boolean][] = [
  ['JSON', ask({}), false],
  ['a stream', ask({ stream: true }), true],
  ['a stream without thinking', ask({ stream: true, thinking: { type: 'disabled' } }), true],
  [
    'a stream with summarised thinking',
    ask({ stream: true, thinking: { type: 'enabled', budget_tokens: 1024 } }),
    false,
  ],
  ['a stream with omitted thinking', ask({ stream: true, thinking: { type: 'adaptive', display: 'omitted' } }), false],
  ['a chat stream', chat({ stream: true }), true],
  ['a chat stream of several choices', chat({ stream: true, n: 2 }), false],
  ['a model with hidden reasoning', chat({ stream: true }, 'gpt-5-mini'), false],
  ['such a model with a vendor prefix', chat({ stream: true }, 'openai/o4-mini'), false],
  ['its variant without reasoning', chat({ stream: true }, 'gpt-5-chat-latest'), true],
  ['Gemini with thinking', chat({ stream: true }, 'gemini-2.5-pro'), false],
  ['the newest Gemini', chat({ stream: true }, 'gemini-flash-latest'), false],
  ['Gemini without thinking', chat({ stream: true }, 'gemini-2.0-flash'), true],
  ['a variant of a model with hidden reasoning', chat({ stream: true }, 'openai/o3:online'), false],
  ['a later chat model with hidden reasoning', chat({ stream: true }, 'gpt-5.1-chat-latest'), false],
  ['a fallback model with hidden reasoning', chat({ stream: true, models: ['openai/o3'] }), false],
  ['reasoning that is left out', chat({ stream: true, reasoning: { exclude: true } }, 'deepseek-r1'), false],
  ['reasoning that is not included', chat({ stream: true, include_reasoning: false }, 'deepseek-r1'), false],
  ['reasoning in a hidden format', chat({ stream: true, reasoning_format: 'hidden' }, 'deepseek-r1'), false],
  ['reasoning that is shown', chat({ stream: true, include_reasoning: true }, 'deepseek-r1'), true],
]
for (const [claim, exchange, expected] of cases) {
  test(`metering: ${claim} ${expected ? 'can' : 'cannot'} be metered while it streams`, (t) => {
    t.is(isMetered(exchange), expected)
  })
}

test('metering: one choice is requested unless `n` is larger', (t) => {
  t.deepEqual([answersOf(chat({})), answersOf(chat({ n: 3 })), answersOf(ask({}))], [1, 3, 1])
})

test('expectation: an unknown key has a default', (t) => {
  const expectation = new Expectation()
  for (let i = 0; i < 4; i++) expectation.learn('a', 50_000)
  t.is(expectation.tokens('a'), 1024)
  t.is(expectation.tokens('b'), 1024)
})

test('expectation: nearly all of the last replies stay below', (t) => {
  const expectation = new Expectation()
  for (let tokens = 1; tokens <= 100; tokens++) expectation.learn('a', tokens * 10)
  const expected = expectation.tokens('a')
  t.true(expected >= 950 && expected <= 1000, String(expected))
})

test('expectation: follows when replies become shorter', (t) => {
  const expectation = new Expectation()
  for (let i = 0; i < 64; i++) expectation.learn('a', 9000)
  for (let i = 0; i < 64; i++) expectation.learn('a', 500)
  t.is(expectation.tokens('a'), 500)
})

test('expectation: keys are bounded; the least recently used is evicted', (t) => {
  const expectation = new Expectation()
  for (let i = 0; i < 5; i++) expectation.learn('old', 200)
  for (let i = 0; i < 5; i++) expectation.learn('used', 200)
  for (let i = 0; i < 1998; i++) expectation.learn(`key ${i}`, 1)
  expectation.learn('used', 200)
  expectation.learn('new', 1)
  t.is(expectation.tokens('old'), 1024)
  t.is(expectation.tokens('used'), 200)
})
