import test from 'ava'
import { z } from 'zod'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import { GatewayError } from '../core/errors.ts'
import type { PluginContext, PluginMiddleware } from '../plugin/contract.ts'
import type { PipelineContext } from './context.ts'
import { PluginError } from './load.ts'
import { Pipelines } from './pipelines.ts'
import { LoadedPlugin, PluginRegistry } from './registry.ts'
import type { Rails } from './resolve.ts'

const log = createRecordingLog()

/** Creates a registry of plugins that only record their name in `ran`. */
function registryOf(names: readonly string[], ran: string[] = []): PluginRegistry {
  const registry = new PluginRegistry()
  for (const name of names) registry.put(saying(name, name, ran))
  return registry
}

/** Creates a plugin whose option can only be tightened. */
function guard(name: string): LoadedPlugin {
  const { definition } = saying(name, name, [])
  const instance = { middleware: () => (_ctx: PluginContext, next: () => Promise<void>) => next() }
  const tightening = ['size'] as never[]
  return new LoadedPlugin({ ...definition, tightening }, instance, { folder: `/${name}`, configured: {}, log })
}

function saying(name: string, word: string, ran: string[]): LoadedPlugin {
  const middleware: PluginMiddleware = (_ctx, next) => {
    ran.push(word)
    return next()
  }
  const instance = { middleware: () => middleware }
  const options = z.strictObject({ size: z.int().default(1) })
  const definition = { name, summary: name, options, perRequest: ['size'] as never[], needs: [], setup: () => instance }
  return new LoadedPlugin({ ...definition, onError: 'bypass' }, instance, { folder: `/${name}`, configured: {}, log })
}

function pipelinesOf(registry: PluginRegistry, rails: Partial<Rails> = {}, upstream = async () => {}): Pipelines {
  return new Pipelines({
    registry,
    rails: { default: 'a', locked: [], clamps: {}, ...rails },
    stepTimeoutMs: 1000,
    upstream,
    log,
  })
}

/** Creates the part of a context that the onion uses. */
function contextFor(): PipelineContext {
  const exchange = {
    id: 'req_1',
    client: { document: { bytes: Buffer.of() } },
    signal: new AbortController().signal,
    reply: {},
    record() {},
    forStep: () => exchange,
    save: () => () => {},
    revoke() {},
  }
  return { state: { exchange }, res: { getHeaders: () => ({}) }, response: {} } as unknown as PipelineContext
}

test('pipelines: the header takes precedence over the key’s pipeline, and that over the default', (t) => {
  const pipelines = pipelinesOf(registryOf(['a', 'b', 'c']))
  t.is(pipelines.for('c', 'b').printed, 'c')
  t.is(pipelines.for(undefined, 'b').printed, 'b')
  t.is(pipelines.for(undefined, null).printed, 'a')
  t.is(pipelines.for(undefined).printed, 'a')
})

test('pipelines: an empty header means no plugins', (t) => {
  const pipelines = pipelinesOf(registryOf(['a', 'b']))
  for (const nothing of ['', ' ', 'none']) t.is(pipelines.for(nothing, 'b').printed, 'none')
  t.is(pipelines.for(undefined, '').printed, 'none')
})

test('pipelines: the same string of the same source is resolved once', (t) => {
  const pipelines = pipelinesOf(registryOf(['a', 'b']))
  t.is(pipelines.for('b,a'), pipelines.for('b,a'))
  t.not(pipelines.for('b,a'), pipelines.for('a,b'))
})

test('pipelines: a string is resolved again after the plugins have changed', (t) => {
  const registry = registryOf(['a'])
  const pipelines = pipelinesOf(registry)
  t.throws(() => pipelines.for('b'), { instanceOf: GatewayError })
  registry.put(saying('b', 'b', []))
  t.is(pipelines.for('b').printed, 'b')
})

test('pipelines: a request whose plugin is replaced while its body arrives runs the new one', async (t) => {
  const ran: string[] = []
  const registry = registryOf(['a'], ran)
  const pipelines = pipelinesOf(registry)
  const resolved = pipelines.for('a')
  registry.put(saying('a', 'new a', ran))
  await resolved.run(contextFor())
  t.deepEqual(ran, ['new a'])
})

test('pipelines: any number of distinct strings is served', async (t) => {
  const ran: string[] = []
  const pipelines = pipelinesOf(registryOf(['a'], ran))
  for (let n = 1; n <= 2000; n++) t.is(pipelines.for(`a?size=${n}`).printed, `a?size=${n}`)
  await pipelines.for('a?size=1').run(contextFor())
  t.deepEqual(ran, ['a'])
})

test('pipelines: an error in the operator’s own pipeline is not the caller’s', (t) => {
  const error = t.throws(() => pipelinesOf(registryOf(['a']), { default: 'a?wide=1' }).for(undefined), {
    instanceOf: PluginError,
  })
  t.regex(error.message, /`pipeline\.default`.*`wide`.*`size`/)
  t.true(error.isConfiguration)
})

test('pipelines: a clamp on an option that callers cannot set is refused at once', (t) => {
  t.throws(() => pipelinesOf(registryOf(['a']), { clamps: { a: { sise: { max: 1 } } } }), {
    instanceOf: PluginError,
    message: /`sise`.*Did you mean `size`\?/,
  })
})

test('pipelines: a clamp for a missing plugin is reported', (t) => {
  pipelinesOf(registryOf(['a']), { clamps: { zoom: { size: { max: 1 } } } })
  t.true(log.lines.some(({ event, fields }) => event === 'pipeline.clamp-unused' && fields.plugin === 'zoom'))
})

test('pipelines: a caller may tighten a locked plugin, which keeps its place', (t) => {
  const registry = registryOf(['a', 'b'])
  registry.put(guard('g'))
  const pipelines = pipelinesOf(registry, { default: 'a,g', locked: ['g'] })
  t.is(pipelines.for('g?size=2,b').printed, 'b,g?size=2')
  t.is(pipelines.for('b').printed, 'b,g')
  const own = pipelinesOf(registry, { default: 'a,g?size=5', locked: ['g'] })
  t.is(own.for('g?size=2').printed, 'g?size=2')
  t.is(own.for('b').printed, 'b,g?size=5')
})

test('pipelines: a caller may set nothing else of a locked plugin', (t) => {
  const pipelines = pipelinesOf(registryOf(['a', 'b']), { default: 'a', locked: ['b'] })
  t.throws(() => pipelines.for('a,b?size=2'), { message: /`b` at position 2 of the pipeline is locked/ })
})

test('pipelines: internal requests run without locked plugins, and their names are not bound by the allowed ones', async (t) => {
  const ran: string[] = []
  const pipelines = pipelinesOf(registryOf(['a', 'b'], ran), { locked: ['a'], allowed: [] })
  await pipelines.own('b').run(contextFor())
  t.deepEqual(ran, ['b'])
  t.throws(() => pipelines.own('c'), { message: /Unknown plugin `c`/ })
})
