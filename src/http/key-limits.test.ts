import test from 'ava'
import { RequestDocument } from '../core/request/request.ts'
import { assertModels, isCapped } from './key-limits.ts'

test('key limits: each cap alone makes a key capped, zero too, and no other limit does', (t) => {
  for (const name of ['costPerRequest', 'costPerDay', 'costPerMonth']) {
    t.true(isCapped({ [name]: 5 }), name)
    t.true(isCapped({ [name]: 0 }), name)
  }
  t.false(isCapped({ requestsPerMinute: 5, models: ['a'], modules: ['b'] }))
  t.false(isCapped({}))
  t.false(isCapped(undefined))
})

test('key limits: a model is allowed by its name, with its provider, or by its beginning', (t) => {
  const isAllowed = (models: string[] | undefined, model = 'quick', served = ['one/real-1']) => {
    const document = new RequestDocument(Buffer.from(JSON.stringify({ model, messages: [] })))
    const targets = served.map((name) => ({ provider: name.split('/')[0] ?? '', model: name.split('/')[1] ?? '' }))
    try {
      assertModels(document, targets, models && { models })
      return true
    } catch {
      return false
    }
  }
  for (const models of [
    undefined,
    ['quick'],
    ['qu*'],
    ['*'],
    ['real-1'],
    ['one/real-1'],
    ['one/*'],
    ['other', 'real*'],
  ])
    t.true(isAllowed(models), String(models))
  for (const models of [[], ['quic'], ['quick*x'], ['real'], ['two/real-1'], ['one'], ['uick*']])
    t.false(isAllowed(models), String(models))
  t.true(isAllowed(['one/*', 'two/*'], 'quick', ['one/a', 'two/b']))
  t.false(isAllowed(['one/*'], 'quick', ['one/a', 'two/b']), 'a fallback that is not allowed')
})

test('key limits: a model of a tool that a translation drops is not checked', (t) => {
  const body = { model: 'quick', input: 'hi', tools: [{ type: 'image_generation', model: 'gpt-image-1' }] }
  const document = new RequestDocument(Buffer.from(JSON.stringify(body)))
  const target = { provider: 'one', model: 'quick' }
  t.notThrows(() => assertModels(document, [{ ...target, translatesResponses: true }], { models: ['quick'] }))
  t.throws(() => assertModels(document, [target], { models: ['quick'] }), { message: /gpt-image-1/ })
})
