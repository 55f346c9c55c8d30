import test from 'ava'
import { RequestDocument } from '../core/request/request.ts'
import { assertModels, isCapped, type LimitedCaller } from './key-limits.ts'

test('key limits: each cap alone makes a key capped, zero too, and no other limit does', (t) => {
  for (const name of ['costPerRequest', 'costPerDay', 'costPerMonth']) {
    t.true(isCapped({ limits: { [name]: 5 } }, []), name)
    t.true(isCapped({ limits: { [name]: 0 } }, []), name)
  }
  t.false(isCapped({ limits: { requestsPerMinute: 5, models: ['a'], modules: ['b'] } }, []))
  t.false(isCapped({ limits: {} }, []))
  t.false(isCapped({}, []))
  t.true(isCapped({ personLimits: { costPerDay: 5 } }, []))
  t.true(isCapped({ teamLimits: { costPerMonth: 5 } }, []))
  t.true(isCapped({ tagLimits: { ci: { costPerDay: 5 } } }, ['a', 'ci']), 'a request may name the tag')
  t.false(isCapped({ tagLimits: { ci: { costPerDay: 5 } } }, ['a', 'toString']))
  t.false(isCapped({ tagLimits: { ci: { requestsPerMinute: 5 } } }, ['ci']))
})

test('key limits: a model is allowed by its name, with its provider, or by its beginning', (t) => {
  const isAllowed = (models: string[] | undefined, model = 'quick', served = ['one/real-1']) => {
    const document = new RequestDocument(Buffer.from(JSON.stringify({ model, messages: [] })))
    const targets = served.map((name) => ({ provider: name.split('/')[0] ?? '', model: name.split('/')[1] ?? '' }))
    try {
      assertModels(document, targets, models === undefined ? {} : { limits: { models } })
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
  t.notThrows(() =>
    assertModels(document, [{ ...target, translatesResponses: true }], { limits: { models: ['quick'] } }),
  )
  t.throws(() => assertModels(document, [target], { limits: { models: ['quick'] } }), { message: /gpt-image-1/ })
})

test('key limits: of the models of a key, its owner and its team the strictest list decides, and is named', (t) => {
  const document = new RequestDocument(Buffer.from(JSON.stringify({ model: 'quick', messages: [] })))
  const assert = (caller: LimitedCaller) => assertModels(document, [{ provider: 'one', model: 'quick' }], caller)
  const [all, none] = [{ models: ['*'] }, { models: [] }]
  t.notThrows(() => assert({ limits: all, personLimits: all, teamLimits: all }))
  t.throws(() => assert({ limits: none, teamLimits: all }), { message: /^model: this key may not use it/ })
  t.throws(() => assert({ limits: all, personLimits: none }), { message: /^model: this key’s owner may not/ })
  t.throws(() => assert({ limits: all, personLimits: all, teamLimits: none }), { message: /this key’s team may not/ })
})
