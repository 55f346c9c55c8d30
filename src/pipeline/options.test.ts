import test from 'ava'
import { z } from 'zod'
import { GatewayError } from '../core/errors.ts'
import { duration } from '../core/units.ts'
import { assertClampsFit, assertWithinClamps, type Clamps, effectiveOptions } from './options.ts'
import { parsePipeline } from './parse.ts'
import { LoadedPlugin } from './registry.ts'

const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }

const options = z.strictObject({
  threshold: z.number().min(0).max(1).default(0.9),
  count: z.int().min(1).max(100).default(3),
  deep: z.boolean().default(false),
  mode: z.enum(['fast', 'slow']).default('fast'),
  level: z.literal([1, 2, 3]).default(1),
  size: z.union([z.literal('auto'), z.number()]).default('auto'),
  word: z.string().default('hi'),
  ttl: duration({ min: '1s', max: '30d' }).prefault('1h'),
  secret: z.string().default('inside'),
})

const SETTABLE = ['threshold', 'count', 'deep', 'mode', 'level', 'size', 'word', 'ttl']

function plugin(configured: Record<string, unknown> = {}, schema: z.ZodType = options): LoadedPlugin {
  const definition = {
    name: 'tuned',
    summary: 'Has options of every kind.',
    options: schema,
    perRequest: SETTABLE as never[],
    needs: [],
    onError: 'bypass' as const,
    setup: () => ({ middleware: () => async () => {} }),
  }
  return new LoadedPlugin(definition, definition.setup(), { folder: '/nowhere', configured, log })
}

function resolve(query: string, { configured = {}, clamps = {} as Clamps, schema = options as z.ZodType } = {}) {
  const [step] = parsePipeline(`  tuned${query === '' ? '' : `?${query}`}`)
  if (step === undefined) throw new Error('no step')
  const loaded = plugin(configured, schema)
  const effective = effectiveOptions(loaded, step) as Record<string, unknown>
  assertWithinClamps({ plugin: loaded, step, effective }, clamps)
  return effective
}

for (const [query, name, expected] of [
  ['threshold=0.5', 'threshold', 0.5],
  ['count=7', 'count', 7],
  ['deep=true', 'deep', true],
  ['deep', 'deep', true],
  ['deep=false', 'deep', false],
  ['mode=slow', 'mode', 'slow'],
  ['level=2', 'level', 2],
  ['size=5', 'size', 5],
  ['size=auto', 'size', 'auto'],
  ['word=12', 'word', '12'],
  ['word=true', 'word', 'true'],
  ['word=', 'word', ''],
  ['ttl=90s', 'ttl', 90_000],
] as const) {
  test(`options: \`${query}\` is read as ${JSON.stringify(expected)}`, (t) => {
    t.is(resolve(query)[name], expected)
  })
}

test('options: options missing in the string are the operator’s, then the default', (t) => {
  t.like(resolve('count=7', { configured: { count: 5, deep: true } }), { count: 7, deep: true, mode: 'fast' })
  t.is(resolve('', { configured: { ttl: '2s' } }).ttl, 2000)
})

for (const [query, ...expected] of [
  ['count=101', 'count', 'position 2', '100'],
  ['count=many', 'count', 'position 2', 'number'],
  ['threshold=2', 'threshold', 'position 2', '1'],
  ['deep=maybe', 'deep', 'position 2', 'boolean'],
  ['mode=medium', 'mode', 'position 2', 'fast'],
  ['level=9', 'level', 'position 2'],
  ['ttl=1', 'ttl', 'position 2', '1s'],
  ['ttl=0s', 'ttl', 'position 2', '`0s`'],
  ['secret=x', '`secret` cannot be set', 'position 2'],
  ['tresholt=1', '`tresholt` cannot be set', 'position 2', 'Did you mean `threshold`?'],
] as const) {
  test(`options: refuses \`${query}\`, and names the option, the expected value and the position`, (t) => {
    const error = t.throws(() => resolve(query), { instanceOf: GatewayError })
    t.is(error.code, 'invalid_request')
    for (const part of ['`tuned`', ...expected]) t.true(error.message.includes(part), `${part} in: ${error.message}`)
  })
}

test('options: a clamp limits a caller’s value to its bounds', (t) => {
  const clamps = { ttl: { min: '10s', max: '10m' }, count: { max: 5 } }
  t.is(resolve('ttl=10m', { clamps }).ttl, 600_000)
  t.is(resolve('ttl=10s&count=5', { clamps }).ttl, 10_000)
  for (const [query, bound] of [
    ['ttl=11m', '`10m`'],
    ['ttl=9s', '`10s`'],
    ['count=6', '`5`'],
  ] as const) {
    const error = t.throws(() => resolve(query, { clamps }), { instanceOf: GatewayError })
    t.true(error.message.includes(bound), error.message)
    t.regex(error.message, /position 2/)
  }
})

test('options: a clamp of values accepts these and lists them for others', (t) => {
  const clamps = { mode: { one_of: ['fast'] }, level: { one_of: [1, 2] }, deep: { one_of: [false] } }
  t.is(resolve('mode=fast&level=2&deep=false', { clamps }).level, 2)
  for (const query of ['mode=slow', 'level=3', 'deep']) {
    const error = t.throws(() => resolve(query, { clamps }), { instanceOf: GatewayError })
    t.regex(error.message, /expected one of `/)
  }
})

test('options: a clamp compares by value, in any unit', (t) => {
  t.is(resolve('ttl=60m', { clamps: { ttl: { max: '1h', one_of: ['1h'] } } }).ttl, 3_600_000)
})

test('options: a clamp does not bind the operator’s own values', (t) => {
  t.is(resolve('', { configured: { count: 50 }, clamps: { count: { max: 5 } } }).count, 50)
})

test('options: a clamp applies to options that are valid only together', (t) => {
  const pair = z
    .strictObject({
      from: duration({ min: '1s', max: '30d' }).prefault('1m'),
      ttl: duration({ min: '1s', max: '30d' }).prefault('2m'),
    })
    .refine(({ from, ttl }) => from < ttl, { path: ['ttl'], message: 'expected more than `from`' })
  const [step] = parsePipeline('tuned?ttl=40s&from=30s')
  const loaded = new LoadedPlugin(
    { ...plugin().definition, options: pair, perRequest: ['from', 'ttl'] as never[] },
    { middleware: () => async () => {} },
    { folder: '/nowhere', configured: {}, log },
  )
  if (step === undefined) return t.fail()
  const effective = effectiveOptions(loaded, step)
  t.notThrows(() => assertWithinClamps({ plugin: loaded, step, effective }, { ttl: { max: '40s' } }))
  t.throws(() => assertWithinClamps({ plugin: loaded, step, effective }, { ttl: { max: '35s' } }), {
    message: /expected at most `35s`/,
  })
})

test('options: a bound that cannot be compared refuses everything', (t) => {
  t.throws(() => resolve('word=a', { clamps: { word: { max: 'b' } } }), { instanceOf: GatewayError })
})

test('options: a clamp on an option that callers cannot set is a configuration error', (t) => {
  t.notThrows(() => assertClampsFit(plugin(), { ttl: { max: '1h' } }))
  t.throws(() => assertClampsFit(plugin(), { ttk: { max: '1h' } }), {
    name: 'PluginError',
    message: /pipeline\.clamps\.tuned.*`ttk`.*Did you mean `ttl`\?/,
  })
})
