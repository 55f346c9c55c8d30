import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { createSettingStore } from '../../src/stores/sql/settings/setting-store.ts'
import { openSqlStore } from '../../src/stores/sql/store.ts'
import { bearer, CLOUD, sessionToken } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { type Environment, startGateway } from '../support/gateway.ts'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { createRecordingLog } from '../support/recording-log.ts'

/*
 * Two gateways on one database, with the demo models; the tests run one after another.
 */
const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-settings-'))
const ENV: Environment = { SVC_DATA_DIR: folder, SVC_COST_PER_MONTH: '100' }
const one = await startGateway(ENV)
const other = await startGateway(ENV)

test.after.always('stop the gateways', async () => {
  await Promise.all([one.stop(), other.stop()])
  rmSync(folder, { recursive: true, force: true })
})

const SETTINGS = '/dashboard/api/settings'
const post = (url: string, suffix: string, body: object) =>
  send(url, { path: `${SETTINGS}${suffix}`, body: { ...body } })
const change = (name: string, value: unknown) => post(one.url, '', { name, value })
const undo = (seq: number) => post(one.url, `/changes/${seq}/undo`, {})
const ask = (url: string, { model = 'demo/echo', pipe }: { model?: string; pipe?: string } = {}) =>
  send(url, {
    body: { model, max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] },
    headers: { 'x-svc-pipe': pipe },
  })
const seqOf = ({ json }: { json: unknown }) => Number(valueAt(json, 'seq'))

async function pluginsOf(url: string): Promise<Map<unknown, object>> {
  const { json } = await send(url, { method: 'GET', path: '/dashboard/api/plugins' })
  return new Map((valueAt(json, 'data') as object[]).map((plugin) => [valueAt(plugin, 'name'), plugin]))
}

async function shown(url: string, name: string): Promise<unknown> {
  const { json } = await send(url, { method: 'GET', path: SETTINGS })
  const options = valueAt(json, 'options')
  return Array.isArray(options) ? options.find((each) => valueAt(each, 'name') === name) : undefined
}

test.serial('settings: a preview explains the pipeline before and after, and changes nothing', async (t) => {
  const { json, status } = await post(one.url, '/preview', { name: 'pipeline.default', value: 'cost-guard' })
  t.is(status, 200)
  t.is(valueAt(json, 'pipelines.before.printed'), 'exact-cache,cost-guard')
  t.is(valueAt(json, 'pipelines.after.printed'), 'cost-guard')
  t.is(valueAt(json, 'yaml'), 'pipeline:\n  default: cost-guard\n')
  t.is(valueAt(json, 'locked'), null)
  t.is((await ask(one.url)).headers['x-svc-pipe'], 'exact-cache,cost-guard')
})

test.serial(
  'settings: a changed pipeline is in force on the next request of every process, and undone by a change',
  async (t) => {
    const changed = await change('pipeline.default', 'cost-guard')
    t.is(changed.status, 200, changed.text)
    t.is((await ask(one.url)).headers['x-svc-pipe'], 'cost-guard')
    await eventually(async () => (await ask(other.url)).headers['x-svc-pipe'] === 'cost-guard', 'the other process')
    t.like(await shown(one.url, 'pipeline.default'), { value: 'cost-guard', source: 'dashboard' })
    const undone = await undo(seqOf(changed))
    t.like(undone.json, { name: 'pipeline.default', value: null, previous: '"cost-guard"', actor: 'operator' })
    t.is((await ask(one.url)).headers['x-svc-pipe'], 'exact-cache,cost-guard')
    t.like(await shown(one.url, 'pipeline.default'), { source: 'default' })
    const again = await undo(seqOf(changed))
    t.is(again.status, 400)
    t.regex(again.text, /changed since/)
  },
)

test.serial(
  'settings: a cap and a model’s name are in force at once; a preview lists callers over the cap',
  async (t) => {
    const capped = await change('costs.per_request', 0)
    t.is((await ask(one.url, { model: 'claude-sonnet-4-5' })).status, 429)
    await undo(seqOf(capped))
    t.not((await ask(one.url, { model: 'claude-sonnet-4-5' })).status, 429)
    t.is((await change('models.fast', ['demo/echo'])).status, 200)
    t.is((await ask(one.url, { model: 'fast' })).status, 200)
    const preview = await post(one.url, '/preview', { name: 'costs.per_day', value: 0 })
    t.like(preview.json, { before: null, after: 0, over: { isComplete: true } })
    const targets = await post(one.url, '/preview', { name: 'models.fast', value: 'demo/lorem' })
    t.deepEqual(valueAt(targets.json, 'targets'), { before: ['demo/echo'], after: ['demo/lorem'] })
  },
)

test.serial('settings: values that could not run are refused, and so are options of the environment', async (t) => {
  const tries: [string, unknown, RegExp][] = [
    ['costs.per_day', -1, /value: /],
    ['costs.per_dya', 1, /there is no `costs.per_dya`/],
    ['pipeline.default', 'no-such-plugin', /Unknown plugin `no-such-plugin`/],
    ['pipeline.step_timeout', '1s', /expected `costs/],
    ['models.x', 'nowhere/model', /expected the name of a provider/],
    ['pipeline.off', ['cost-guard'], /`cost-guard` is locked/],
    ['pipeline.off', ['no-such-plugin'], /no plugin/],
    ['server.port', 1, /expected `costs/],
    ['costs.per_month', 1, /set by the environment, which takes precedence/],
  ]
  for (const [name, value, words] of tries) {
    const reply = await change(name, value)
    t.is(reply.status, 400, name)
    t.regex(reply.text, words)
  }
  const { json } = await post(one.url, '/preview', { name: 'costs.per_month', value: 1 })
  t.regex(String(valueAt(json, 'locked')), /set by the environment/)
  t.is(valueAt(json, 'yaml'), 'costs:\n  per_month: 1\n')
})

test.serial(
  'settings: a plugin that is switched off is left out, and a request that names it is refused',
  async (t) => {
    const off = await change('pipeline.off', ['exact-cache'])
    t.is(off.status, 200, off.text)
    t.is((await ask(one.url)).headers['x-svc-pipe'], 'cost-guard')
    const named = await ask(one.url, { pipe: 'exact-cache' })
    t.is(named.status, 400)
    t.regex(named.text, /Plugin `exact-cache` at position 0 of the pipeline is switched off by the operator/)
    const states = await pluginsOf(one.url)
    t.like(states.get('exact-cache'), { isOn: false, isLocked: false })
    t.like(states.get('cost-guard'), { isOn: true, isLocked: true })
    await undo(seqOf(off))
    t.is((await ask(one.url, { pipe: 'exact-cache' })).status, 200)
  },
)

test.serial('plugins: figures count runs, hits and time of each, of today and of the newest requests', async (t) => {
  await ask(one.url, { pipe: 'exact-cache' })
  await ask(one.url, { pipe: 'exact-cache' })
  const { json } = await send(one.url, { method: 'GET', path: '/dashboard/api/plugins/figures' })
  const named = (list: unknown, member: string) =>
    (list as Record<string, unknown>[]).find((each) => each[member] === 'exact-cache')
  const own = named(valueAt(json, 'sample.modules'), 'module')
  t.true(Number(valueAt(own, 'actions.hit')) >= 1)
  t.true(Number(valueAt(own, 'runs')) >= 2 && Number(valueAt(own, 'ms')) >= 0)
  for (const range of ['today', 'week']) t.true(Number(named(valueAt(json, range), 'name')?.requests) >= 2, range)
})

test.serial('settings: every change is in the list with its author, and in the audit log', async (t) => {
  const { json } = await send(one.url, { method: 'GET', path: `${SETTINGS}/changes` })
  const changes = valueAt(json, 'data') as { seq: number; actor: string; atMs: number }[]
  t.true(changes.length >= 6 && changes.every(({ actor, atMs }) => actor === 'operator' && atMs > 0))
  const clock = { nowMs: () => Date.now() }
  const options = { databaseUrl: undefined, dataDir: folder, log: createRecordingLog(), clock, patienceMs: 20_000 }
  const store = await openSqlStore(options)
  const audited = await store.run('audit.list', { accountId: 'local' })
  t.is(audited.filter(({ action }) => action === 'setting.changed').length, changes.length)
  // Rows that no gateway would store.
  const rows = createSettingStore(store)
  const by = { actor: 'operator', accountId: 'local' }
  await rows.change({ ...by, name: 'models.gone', value: '"nowhere/model"' })
  await rows.change({ ...by, name: 'pipeline.default', value: '"no-such-plugin"' })
  await rows.change({ ...by, name: 'costs.per_day', value: '"much"' })
  await rows.change({ ...by, name: 'no.such.option', value: '{}' })
  await rows.change({ ...by, name: 'costs.per_request', value: '0' })
  await store.close()
})

test.serial('settings: stored values that cannot be used stop no start, and the others are in force', async (t) => {
  await using third = await startGateway(ENV)
  t.is((await ask(third.url)).status, 200)
  t.is((await ask(third.url, { model: 'claude-sonnet-4-5' })).status, 429)
  t.like(await shown(third.url, 'pipeline.default'), { value: 'exact-cache,cost-guard', source: 'default' })
  t.regex(third.log(), /settings.value-ignored/)
  await using readOnly = await startGateway({ ...ENV, SVC_SETTINGS_EDITABLE: 'no' })
  t.not((await ask(readOnly.url, { model: 'claude-sonnet-4-5' })).status, 429)
  t.is((await post(readOnly.url, '', { name: 'costs.per_day', value: 1 })).status, 403)
  t.is((await post(readOnly.url, '/preview', { name: 'costs.per_day', value: 1 })).status, 200)
})

test.serial('settings: in cloud mode operators alone see, preview, change and undo them', async (t) => {
  await using cloud = await startGateway({ ...ENV, ...CLOUD })
  const headers = bearer(await sessionToken('ada'))
  const body = { name: 'costs.per_day', value: 1 }
  for (const [method, suffix] of [
    ['GET', 'settings'],
    ['GET', 'settings/changes'],
    ['GET', 'providers'],
    ['POST', 'settings'],
    ['POST', 'settings/preview'],
    ['POST', 'settings/changes/1/undo'],
    ['POST', 'providers/anthropic/test'],
    ['PUT', 'providers/anthropic/key'],
    ['DELETE', 'providers/anthropic/key'],
  ] as const) {
    const sent = method === 'GET' ? {} : { body }
    t.is((await send(cloud.url, { method, path: `/dashboard/api/${suffix}`, headers, ...sent })).status, 403, suffix)
  }
})
