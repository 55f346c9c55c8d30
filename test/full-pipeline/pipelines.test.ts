import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { configSchema } from '../../src/config/schema.ts'
import { DEFAULT_PIPELINE, FULL_PIPELINE } from '../support/pipelines.ts'

/*
 * The suites of money run through the default pipeline unless a test is about another one. A suite that names one by
 * habit would not see what happens between a cache, the guard and a payment.
 */

const TESTS = path.resolve(import.meta.dirname, '..')
const SUITES = ['accounts', 'billing', 'cost-guard', 'payments', 'plans']
const MODULES = FULL_PIPELINE.split(',')
const STEP = String.raw`[a-z][a-z-]*(?:\?[^,'"$${'`'}]*)?`
/** A text that is a pipeline: `none`, or modules of which at least one is the package's. */
const PIPELINE_TEXT = new RegExp(String.raw`(['"${'`'}])(none|${STEP}(?:,${STEP})*)\1`, 'g')
/** Fixtures without a plugin unless a pipeline is named. */
const BARE_FIXTURE = /\b(openFixture|openProviderFixture|openPluginFixture|startFixture)(With)?\(/

/** Files that name other pipelines: which, and the reason. */
const NAMED: Readonly<Record<string, { why: string; texts: readonly string[] }>> = {
  'accounts/books.test.ts': { why: 'a field that is changed', texts: ['none'] },
  'accounts/conversation-budgets.test.ts': {
    why: 'a budget of a key holds without a guard',
    texts: ['cost-guard?per_run=1000', 'exact-cache', 'none'],
  },
  'accounts/key-fields.test.ts': {
    why: 'pipelines that are accepted or refused',
    texts: ['cost-guard,exact-cash', 'exact-cache', 'exact-cache,exact-cache', 'exact-cache?ttl=soon'],
  },
  'accounts/keys.test.ts': {
    why: 'pipelines of keys',
    texts: ['cost-guard', 'cost-guard?per_request=0.25', 'exact-cache', 'none'],
  },
  'accounts/limits.test.ts': {
    why: 'modules that a key may name; caps hold without a guard',
    texts: ['compress', 'cost-guard', 'exact-cache', 'exact-cache,compress', 'none'],
  },
  'accounts/nested-caps.test.ts': { why: 'caps hold without a guard', texts: ['none'] },
  'accounts/session-tokens.test.ts': { why: 'no pipeline: an algorithm', texts: ['none'] },
  'cost-guard/assumed-limit.test.ts': { why: 'compares with a call without a guard', texts: ['none'] },
  'cost-guard/client-limits.test.ts': { why: 'no pipeline: options of the guard', texts: ['cost-guard'] },
  'cost-guard/cut-streams.test.ts': { why: 'compares with a call without a guard', texts: ['none'] },
  'cost-guard/named-models.test.ts': {
    why: 'a hold that no other module lowers',
    texts: ['cost-guard?per_request=0.00000001'],
  },
  'cost-guard/odd-bodies.test.ts': {
    why: 'costs are counted without a guard; a hold that no other module lowers',
    texts: ['none', 'cost-guard?per_request=0.00000001'],
  },
  'cost-guard/own-reading.test.ts': { why: 'no pipeline: the name of a case', texts: ['none'] },
  'cost-guard/refusal-status.test.ts': { why: 'no pipeline: options of the guard', texts: ['cost-guard'] },
  'cost-guard/refusals.test.ts': {
    why: 'a cap locks the guard, whatever is named',
    texts: ['cost-guard', 'exact-cache', 'none'],
  },
  'cost-guard/settlement.test.ts': {
    why: 'a module answers on either side of the guard',
    texts: ['cost-guard?per_day=1,stub', 'replace,cost-guard?per_day=1'],
  },
  'cost-guard/store-down.test.ts': {
    why: 'calls go on without the guard, and are refused with it',
    texts: ['cost-guard', 'none'],
  },
  'payments/crashes.test.ts': { why: 'no pipeline: a status', texts: ['none'] },
  'payments/default-pipeline.test.ts': {
    why: 'a slow module between cache and guard',
    texts: ['exact-cache,dawdler,cost-guard'],
  },
  'payments/sandbox.test.ts': { why: 'the sandbox with demo models alone', texts: ['none'] },
  'plans/plans.test.ts': { why: 'a plan counts calls without a guard, too', texts: ['none'] },
}

const files = SUITES.flatMap((suite) => readdirSync(path.join(TESTS, suite)).map((name) => `${suite}/${name}`)).filter(
  (file) => file.endsWith('.ts'),
)

function sourceOf(file: string): string {
  return readFileSync(path.join(TESTS, file), 'utf8')
}

function pipelinesIn(source: string): string[] {
  const texts = [...source.matchAll(PIPELINE_TEXT)].map(([, , text = '']) => text)
  const isPipeline = (text: string) =>
    text === 'none' || text.split(',').some((step) => MODULES.includes(step.replace(/\?.*$/, '')))
  return [...new Set(texts.filter(isPipeline))].toSorted()
}

test('pipelines: the suites of money name no pipeline without a reason', (t) => {
  const named = files.flatMap((file) => pipelinesIn(sourceOf(file)).map((pipeline) => `${file}: ${pipeline}`))
  const allowed = Object.entries(NAMED).flatMap(([file, { texts }]) => texts.map((text) => `${file}: ${text}`))
  t.deepEqual(named.toSorted(), allowed.toSorted())
})

test('pipelines: the suites of money open no fixture without modules', (t) => {
  const bare = files.filter((file) => BARE_FIXTURE.test(sourceOf(file)) && !sourceOf(file).includes('SVC_PIPELINE'))
  t.deepEqual(bare, [])
  t.true(files.length > 50, `${files.length} files`)
})

/** Suites of caches that start a fixture without a second caller, with the reason. */
const ALONE: Readonly<Record<string, string>> = {
  'exact-cache/chat.test.ts': 'has tests of its own with a second caller',
  'exact-cache/leaders-own.test.ts': 'has several callers in each test',
  'semantic-cache/embedders.test.ts': 'failures of the embedder are counted, and a second caller would cause some',
  'semantic-cache/faults.test.ts': 'entries are counted, and a second caller would have some',
  'semantic-cache/lasting.test.ts': 'one test looks at all entries',
  'semantic-cache/no-graph.test.ts': 'sends five hundred requests, which is enough',
}

test('pipelines: where a cache answers, a second caller asks, too', (t) => {
  const caches = ['exact-cache', 'semantic-cache']
  const suites = caches.flatMap((suite) => readdirSync(path.join(TESTS, suite)).map((name) => `${suite}/${name}`))
  const alone = suites.filter(
    (file) => BARE_FIXTURE.test(sourceOf(file)) || /\bstartFixture(With)?\b/.test(sourceOf(file)),
  )
  t.deepEqual(alone, Object.keys(ALONE))
})

test('pipelines: the default one is that of the configuration, and the full one has every module', (t) => {
  t.is(configSchema.parse({}).pipeline.default, DEFAULT_PIPELINE)
  const folders = readdirSync(path.join(TESTS, '../plugins'), { withFileTypes: true })
  t.deepEqual(
    MODULES.toSorted(),
    folders.filter((entry) => entry.isDirectory()).map(({ name }) => name),
  )
})
