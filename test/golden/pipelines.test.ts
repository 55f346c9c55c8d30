import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { z } from 'zod'
import { configSchema } from '../../src/config/schema.ts'
import { duration } from '../../src/core/units.ts'
import { LoadedPlugin, PluginRegistry } from '../../src/pipeline/registry.ts'
import { type PipelineSource, resolvePipeline } from '../../src/pipeline/resolve.ts'

/*
 * DESIGN. Each file of `pipelines/` is one case: a title, a YAML head, a line `---`, and what the resolver makes of it:
 * the effective pipeline with each module's options, or the error. After a wanted change, `UPDATE_GOLDEN=1 npx ava
 * test/golden` writes the files anew; read the difference before you commit it.
 */

const FOLDER = path.join(import.meta.dirname, 'pipelines')
const FENCE = '\n---\n'

/** Modules of the cases: a cache, a cap, a guard that no caller may set, and one with two settable options. */
const MODULES: Record<string, { options: z.ZodType; perRequest?: string[]; configured?: Record<string, unknown> }> = {
  cache: {
    options: z.strictObject({
      ttl: duration({ min: '1s', max: '30d' }).prefault('1h'),
      scope: z.enum(['key', 'user', 'shared']).default('key'),
      memory: z.int().default(256),
    }),
    perRequest: ['ttl', 'scope'],
  },
  cap: {
    options: z.strictObject({ usd: z.number().positive().default(1) }),
    perRequest: ['usd'],
    configured: { usd: 5 },
  },
  guard: { options: z.strictObject({ strict: z.boolean().default(true) }) },
  trim: {
    options: z.strictObject({ words: z.int().min(1).max(5000).default(400), hard: z.boolean().default(false) }),
    perRequest: ['words', 'hard'],
  },
}

const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }

function registryOfModules(): PluginRegistry {
  const registry = new PluginRegistry()
  for (const [name, { options, perRequest = [], configured = {} }] of Object.entries(MODULES)) {
    const setup = () => ({ middleware: () => async () => {} })
    const definition = { name, summary: name, options, perRequest: perRequest as never[], needs: [], setup }
    registry.put(
      new LoadedPlugin({ ...definition, onError: 'bypass' }, setup(), { folder: `/modules/${name}`, configured, log }),
    )
  }
  return registry
}

const registry = registryOfModules()

const headSchema = z.strictObject({
  as: z.enum(['header', 'key', 'default']).default('header'),
  pipeline: z.string(),
  rails: configSchema.shape.pipeline,
})

interface Case {
  title: string
  head: string
  expected: string
}

function readCase(file: string): Case {
  const [head = '', expected = ''] = readFileSync(file, 'utf8').split(FENCE)
  return { title: (head.split('\n')[0] ?? '').replace(/^# /, ''), head, expected: expected.trimEnd() }
}

function printEffective(head: string): string {
  const { as, pipeline, rails } = headSchema.parse(parse(head))
  try {
    return describe(pipeline, as, rails)
  } catch (error) {
    return `error: ${(error as Error).message}` // safe: the resolver throws nothing else
  }
}

function describe(text: string, as: PipelineSource, rails: Parameters<typeof resolvePipeline>[2]['rails']): string {
  const { printed, steps } = resolvePipeline(text, as, { registry, rails })
  const lines = steps.map(
    ({ plugin, effective, isLocked }, index) =>
      `${index + 1}. ${plugin.name} ${JSON.stringify(effective)}${isLocked ? ' locked' : ''}`,
  )
  return [`runs: ${printed}`, ...lines].join('\n')
}

const files = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))

for (const name of files) {
  const file = path.join(FOLDER, name)
  const { title, head, expected } = readCase(file)
  test(`golden pipeline ${name}: ${title}`, (t) => {
    const actual = printEffective(head)
    if (process.env.UPDATE_GOLDEN === undefined) return void t.is(actual, expected)
    writeFileSync(file, `${head}${FENCE}${actual}\n`)
    t.pass()
  })
}

test('golden pipelines: there are cases, each with a title of its own', (t) => {
  t.true(files.length >= 20)
  t.is(new Set(files.map((name) => readCase(path.join(FOLDER, name)).title)).size, files.length)
})
