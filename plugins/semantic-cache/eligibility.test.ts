import test from 'ava'
import { openExchange } from '../../test/support/exchange.ts'
import { idleReasonOf, literalReasonOf } from './eligibility.ts'
import { questionOf } from './question.ts'

const LIMITS = { maxWords: 400, maxTemperature: 1 }

function exchangeOf(content: unknown, more: object = {}) {
  const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content }], ...more })
  return openExchange({ body, dialect: 'messages' })
}

test('eligibility: accepts a string, or the last of several text blocks', (t) => {
  t.like(questionOf(exchangeOf('Where is it?')), { text: 'Where is it?' })
  const blocks = ['One.', 'Where is it?'].map((text) => ({ type: 'text', text }))
  t.like(questionOf(exchangeOf(blocks)), { text: 'Where is it?' })
})

for (const [name, content] of Object.entries({
  'a tool result': [
    { type: 'tool_result', tool_use_id: 't', content: 'x' },
    { type: 'text', text: 'And?' },
  ],
  'an image': [
    { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    { type: 'text', text: 'What is it?' },
  ],
  'a document': [{ type: 'document' }, { type: 'text', text: 'What is it?' }],
  'no block': [],
})) {
  test(`eligibility: leaves ${name} alone`, (t) => {
    t.is(questionOf(exchangeOf(content)), 'blocks')
  })
}

for (const role of ['assistant', 'system'] as const)
  test(`eligibility: excludes a last message of the ${role}, with the reason`, (t) => {
    const turns = [
      { role: 'user', content: 'Where is it?' },
      { role, content: 'It is' },
    ]
    t.is(questionOf(exchangeOf('', { messages: turns })), role)
  })

test('eligibility: excludes high temperatures', (t) => {
  const reason = (temperature?: number) => {
    const exchange = exchangeOf('Where is it?', { temperature })
    const question = questionOf(exchange)
    if (typeof question === 'string') return question
    return idleReasonOf(exchange, question, { ...LIMITS, maxTemperature: 0.7 })
  }
  t.is(reason(0.7), undefined)
  t.is(reason(0.8), 'temperature')
  t.is(reason(), 'temperature', 'the default is 1')
})

const LITERAL: Readonly<Record<string, readonly string[]>> = {
  empty: ['  '],
  long: ['what is it '.repeat(134), `what is ${'x'.repeat(120)}`],
  code: [
    'What does this do?\n```\nlet a = 1\n```',
    'Explain this:\n  return a',
    'What is wrong with this?\nif (a) {\nb()\n}',
  ],
}

for (const [reason, texts] of Object.entries(LITERAL)) {
  for (const text of texts) {
    test(`eligibility: compares no meanings (${reason}): ${text.slice(0, 60)}`, (t) => {
      t.is(literalReasonOf(text, LIMITS), reason)
    })
  }
}

test('eligibility: excludes requests with tools', (t) => {
  const exchange = exchangeOf('Where is it?', { tools: [{ name: 'look', input_schema: { type: 'object' } }] })
  const question = questionOf(exchange)
  t.is(typeof question === 'string' ? question : idleReasonOf(exchange, question, LIMITS), 'tools')
})

test('eligibility: compares meanings of plain English', (t) => {
  for (const text of [
    'What is the status of order 17?',
    "Translate 'guten Tag' to Dutch, please",
    'List the parts of a piano',
  ])
    t.is(literalReasonOf(text, LIMITS), undefined)
})
