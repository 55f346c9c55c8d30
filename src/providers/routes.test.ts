import test from 'ava'
import fc from 'fast-check'
import type { Provider } from '../core/ports/provider.ts'
import { ModelRoutes } from './routes.ts'
import type { Selection } from './select.ts'

/** Counts how often a provider was selected for a model. */
function counted() {
  let asked = 0
  const claims = (model: string) => {
    asked++
    return model.startsWith('a-')
  }
  const a = { name: 'a', claims } as unknown as Provider
  const b = { name: 'b', claims: () => false } as unknown as Provider
  const selection: Selection = {
    providers: new Map([
      ['a', a],
      ['b', b],
    ]),
    fallback: 'b',
  }
  return { selection, asked: () => asked }
}

test('routes: an alias leads to its targets, in their order', (t) => {
  const routes = new ModelRoutes({ fast: ['b/x', 'a-model', 'a/y/z'] }, counted().selection)
  t.deepEqual(routes.find('fast'), [
    { provider: 'b', model: 'x' },
    { provider: 'a', model: 'a-model' },
    { provider: 'a', model: 'y/z' },
  ])
})

test('routes: a model’s own name with a route leads there, and its target is not routed again', (t) => {
  const routes = new ModelRoutes({ 'a-model': ['a-model', 'b/x'], 'b/x': ['a/other'] }, counted().selection)
  t.deepEqual(routes.find('a-model'), [
    { provider: 'a', model: 'a-model' },
    { provider: 'b', model: 'x' },
  ])
  t.deepEqual(routes.find('b/x'), [{ provider: 'a', model: 'other' }])
})

test('routes: routes that lead to one another do not loop', (t) => {
  const routes = new ModelRoutes({ one: ['two'], two: ['one'] }, counted().selection)
  t.deepEqual(routes.find('one'), [{ provider: 'b', model: 'two' }])
})

test('routes: names of Object.prototype are no routes', (t) => {
  const routes = new ModelRoutes({}, counted().selection)
  for (const model of ['constructor', '__proto__', 'toString'])
    t.deepEqual(routes.find(model), [{ provider: 'b', model }])
})

test('routes: results are cached, but not for long names', (t) => {
  const { selection, asked } = counted()
  const routes = new ModelRoutes({}, selection)
  for (const model of ['a-known', 'a-known', 'a-known']) routes.find(model)
  t.is(asked(), 1)
  const long = `a-${'x'.repeat(200)}`
  t.deepEqual([routes.find(long), routes.find(long)].flat(), [
    { provider: 'a', model: long },
    { provider: 'a', model: long },
  ])
  t.is(asked(), 3)
})

test('routes: a route to an unknown provider fails at once', (t) => {
  t.throws(() => new ModelRoutes({ fast: ['b/x', 'c/x'] }, counted().selection), { message: /`c`/ })
})

test('routes: an unknown prefix is an error every time', (t) => {
  const routes = new ModelRoutes({}, counted().selection)
  for (let i = 0; i < 2; i++) t.throws(() => routes.find('c/x'), { code: 'invalid_request' })
})

test('routes: the names are those of the configuration', (t) => {
  t.deepEqual(new ModelRoutes({ x: ['a/1'], 'y/z': ['b/2'] }, counted().selection).names, ['x', 'y/z'])
})

test('routes: a result does not depend on earlier lookups', (t) => {
  const { selection } = counted()
  const used = new ModelRoutes({ fast: ['a/1'] }, selection)
  const names = fc.oneof(
    fc.constantFrom('fast', 'a-1', 'b/2'),
    fc.string().filter((name) => !name.includes('/')),
  )
  fc.assert(
    fc.property(names, (name) => {
      t.deepEqual(used.find(name), new ModelRoutes({ fast: ['a/1'] }, selection).find(name))
    }),
  )
})
