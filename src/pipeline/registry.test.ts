import test from 'ava'
import { z } from 'zod'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import type { PluginContext, PluginInstance } from '../plugin/contract.ts'
import { LoadedPlugin, PluginRegistry } from './registry.ts'

const next = async (): Promise<void> => {}
const context = {} as PluginContext

function plugin(name: string, instance: Partial<PluginInstance<unknown>> = {}, log = createRecordingLog()) {
  const whole = { middleware: () => async () => {}, ...instance }
  const definition = { name, summary: name, options: z.strictObject({}), perRequest: [], needs: [] }
  return new LoadedPlugin({ ...definition, onError: 'bypass', setup: () => whole }, whole, {
    folder: `/plugins/${name}`,
    configured: {},
    log,
  })
}

test('registry: middleware is created once per distinct set of options', (t) => {
  let made = 0
  const counted = plugin('counted', {
    middleware: () => {
      made++
      return async () => {}
    },
  })
  const first = counted.middlewareFor({ a: 1, b: 'x' })
  t.is(counted.middlewareFor({ b: 'x', a: 1 }), first)
  t.not(counted.middlewareFor({ a: 2, b: 'x' }), first)
  t.is(made, 2)
})

for (const [what, one, other] of [
  ['patterns', { by: /a/ }, { by: /b/ }],
  ['sets', { by: new Set(['a']) }, { by: new Set(['b']) }],
  ['maps', { by: new Map([['a', 1]]) }, { by: new Map([['a', 2]]) }],
  ['big integers', { by: 1n }, { by: 2n }],
  ['infinity and nothing', { by: Number.POSITIVE_INFINITY }, { by: null }],
] as const) {
  test(`registry: options that are ${what} are distinct`, (t) => {
    const told = plugin('told', { middleware: () => async () => {} })
    t.not(told.middlewareFor(one), told.middlewareFor(other))
    t.is(told.middlewareFor(one), told.middlewareFor(structuredClone(one)))
  })
}

test('registry: any number of distinct options is served, with bounded memory', (t) => {
  let made = 0
  const many = plugin('many', {
    middleware: () => {
      made++
      return async () => {}
    },
  })
  for (let n = 0; n < 1000; n++) many.middlewareFor({ n })
  many.middlewareFor({ n: 999 })
  t.is(made, 1000)
  many.middlewareFor({ n: 0 })
  t.is(made, 1001)
})

test('registry: a plugin that cannot create its middleware fails when it runs, so that its onError decides', async (t) => {
  const broken = plugin('broken', {
    middleware: () => {
      throw new Error('bad idea')
    },
  })
  await t.throwsAsync(() => broken.middlewareFor({})(context, next), { message: 'bad idea' })
  const empty = plugin('empty', { middleware: () => undefined as never })
  await t.throwsAsync(() => empty.middlewareFor({})(context, next), { message: /no function/ })
})

test('registry: closes the last one set up first', async (t) => {
  const closed: string[] = []
  const registry = new PluginRegistry()
  for (const name of ['b', 'a', 'c']) registry.put(plugin(name, { close: () => void closed.push(name) }))
  await registry.close()
  t.deepEqual(closed, ['c', 'a', 'b'])
  t.deepEqual(registry.names, [])
})

test('registry: a plugin that throws in its close is logged and does not block others', async (t) => {
  const closed: string[] = []
  const log = createRecordingLog()
  const registry = new PluginRegistry()
  registry.put(plugin('good', { close: () => void closed.push('good') }))
  registry.put(plugin('bad', { close: () => Promise.reject(new Error('stuck')) }, log))
  await registry.close()
  t.deepEqual(closed, ['good'])
  t.like(log.lines[0], { level: 'error', event: 'plugin.close-failed', fields: { plugin: 'bad', reason: 'stuck' } })
})

test('registry: a replaced plugin is closed once its last request has left', async (t) => {
  let closes = 0
  const old = plugin('a', { close: () => void closes++ })
  const registry = new PluginRegistry()
  registry.put(old)
  old.enter()
  old.enter()
  registry.put(plugin('a'))
  old.leave()
  t.is(closes, 0)
  old.leave()
  t.is(closes, 1)
  await old.close()
  t.is(closes, 1)
})

test('registry: a replaced plugin without requests is closed at once', (t) => {
  let closes = 0
  const registry = new PluginRegistry()
  registry.put(plugin('a', { close: () => void closes++ }))
  registry.remove('a')
  t.is(closes, 1)
  t.is(registry.get('a'), undefined)
})

test('registry: every change has a generation of its own', (t) => {
  const registry = new PluginRegistry()
  const seen = [registry.generation]
  registry.put(plugin('a'))
  seen.push(registry.generation)
  registry.put(plugin('a'))
  seen.push(registry.generation)
  registry.remove('a')
  seen.push(registry.generation)
  t.is(new Set(seen).size, 4)
})
