import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { sqliteFile } from '../../src/stores/sql/sqlite/location.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { refusalOfStart } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { parseJson, valueAt } from '../support/json.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'
import { createDatabase, isPostgresExpected } from '../support/postgres.ts'
import { startProvider } from '../support/stand-in-provider.ts'

const testWithPostgres = isPostgresExpected ? test : test.skip
const provider = await startProvider()
test.after.always(() => provider.close())

const get = (url: string, route: string) => send(url, { method: 'GET', path: route })
const environment = (dataDir: string) => ({
  SVC_DATA_DIR: dataDir,
  SVC_PIPELINE: 'none',
  ANTHROPIC_BASE_URL: provider.url,
  ANTHROPIC_API_KEY: 'sk-ant-x',
})

test('receipts: while the database is locked, the dashboard shows a request without its receipt, which is 503', async (t) => {
  const env = environment(createPluginDirectory(t).path)
  const gateway = await startGateway(env)
  t.teardown(() => gateway.stop())
  await send(gateway.url, { body: ask('opens the database') })
  const lock = new DatabaseSync(sqliteFile(env.SVC_DATA_DIR), { timeout: 5000 })
  t.teardown(() => lock.close())
  lock.exec('begin immediate')
  const { headers } = await send(gateway.url, { body: ask('hi') })
  const id = headers['x-svc-receipt']
  const detail = () => get(gateway.url, `/dashboard/api/requests/${id}`)
  await eventually(async () => (await detail()).status !== 404, 'a row of the request')
  const shown = await detail()
  t.is(shown.status, 200, shown.text)
  t.like(shown.json, { request: { hasReceipt: true }, receipt: null })
  const refused = await get(gateway.url, `/v1/receipts/${id}`)
  t.deepEqual([refused.status, refused.headers['retry-after']], [503, '1'])
  lock.exec('rollback')
  await eventually(async () => (await get(gateway.url, `/v1/receipts/${id}`)).status === 200, 'the receipt')
  t.like((await detail()).json, { receipt: { isValid: true } })
})

test('receipts: a stop stores what waits; another start has the same key, and the command verifies', async (t) => {
  const folder = createPluginDirectory(t)
  const env = environment(folder.path)
  const first = await startGateway(env)
  const replies = await Promise.all(Array.from({ length: 40 }, (_, i) => send(first.url, { body: ask(`hi ${i}`) })))
  const keys = await get(first.url, '/.well-known/turnpike-keys')
  t.deepEqual(await first.stop(), { code: 0, signal: null })
  // The data folder of `env` is the test's own, so the gateway has not removed it.
  const second = await startGateway(env)
  t.teardown(() => second.stop())
  t.is((await get(second.url, '/.well-known/turnpike-keys')).text, keys.text)
  for (const { headers } of replies)
    t.is((await get(second.url, `/v1/receipts/${headers['x-svc-receipt']}`)).status, 200)

  const id = String(replies[0]?.headers['x-svc-receipt'])
  const receipt = (await get(second.url, `/v1/receipts/${id}`)).text
  const file = folder.put('receipt.json', receipt)
  const forged = folder.put('forged.json', receipt.replace('"provider_usd":"0.', '"provider_usd":"1.'))
  const keyFile = folder.put('keys.json', keys.text)
  const raw = String(valueAt(keys.json, 'keys.0.x'))
  const verify = (args: string[], more = {}) =>
    runCommandInThread(['receipt', 'verify', ...args], { env: { ...env, ...more } })

  const local = await verify([file])
  t.is(local.code, 0, local.stderr)
  t.regex(local.stdout, /^Genuine: /)
  t.regex(local.stdout, new RegExp(`ok +signature .*ok +inclusion .*${id}.*SHA-256 of the reply +[0-9a-f]{64}`, 's'))
  const elsewhere = { SVC_DATA_DIR: path.join(folder.path, 'elsewhere') }
  t.is((await verify([file, '--key', raw], elsewhere)).code, 0)
  const json = await verify([file, '--key', keyFile, '--json'], elsewhere)
  t.is(json.code, 0)
  t.like(parseJson(json.stdout), { valid: true, id, checks: [{ ok: true }, { ok: true }, { ok: true }] })

  const bad = await verify([forged, '--json'])
  t.is(bad.code, 1)
  t.like(parseJson(bad.stdout), { valid: false, checks: [{ name: 'form', ok: true }, { ok: true }, { ok: false }] })
  t.regex((await verify([forged])).stdout, /^NOT GENUINE.*FAILED +inclusion/s)
  const stranger = 'A'.repeat(43)
  t.is((await verify([file, '--key', stranger])).code, 1)

  const unusable = [
    await verify([path.join(folder.path, 'nowhere.json')]),
    await verify([keyFile, '--key', 'nonsense']),
    await verify([file], elsewhere),
    await verify([folder.put('list.json', '[]')]),
  ]
  t.deepEqual(
    unusable.map(({ code }) => code),
    [2, 2, 2, 2],
  )
  t.regex(unusable[0]!.stderr, /nowhere\.json` is not a receipt: it cannot be read/)
  t.regex(unusable[1]!.stderr, /^--key nonsense: Expected a public key/)
  t.regex(unusable[2]!.stderr, /There is no key in .*--key/)
})

test('receipts: a key that cannot be used stops the start in words', async (t) => {
  const folder = createPluginDirectory(t)
  writeFileSync(path.join(folder.path, 'receipt-key.pem'), 'no key')
  const words = await refusalOfStart({}, environment(folder.path))
  t.regex(words, /turnpike cannot start: .*receipt-key\.pem` is not the private Ed25519 key/)
  t.notRegex(words, /\n {4}at /)
})

testWithPostgres(
  'receipts: a gateway with another key than that of the shared ledger does not start, and the reason helps',
  async (t) => {
    const databaseUrl = await createDatabase()
    const [one, two] = [createPluginDirectory(t), createPluginDirectory(t)]
    const env = ({ path: dataDir }: typeof one) => ({ ...environment(dataDir), DATABASE_URL: databaseUrl })
    const first = await startGateway(env(one))
    const { headers } = await send(first.url, { body: ask('hi') })
    t.is((await get(first.url, `/v1/receipts/${headers['x-svc-receipt']}`)).status, 200)
    await first.stop()
    const words = await refusalOfStart({}, env(two))
    t.regex(words, /turnpike cannot start: The receipts in the database are signed by another key/)
    t.notRegex(words, /\n {4}at /)
    two.put('receipt-key.first.pem', readFileSync(path.join(one.path, 'receipt-key.pem'), 'utf8'))
    const second = await startGateway(env(two))
    t.teardown(() => second.stop())
    t.is((await send(second.url, { body: ask('hi') })).status, 200)
  },
)

test('receipts: workers on one port have one key, and find each other’s receipts', async (t) => {
  const folder = createPluginDirectory(t)
  const gateway = await startGatewayProcess(environment(folder.path), { args: ['--workers', '2'], waitMs: 50_000 })
  t.teardown(() => gateway.stop())
  const keys = await Promise.all(Array.from({ length: 12 }, () => get(gateway.url, '/.well-known/turnpike-keys')))
  t.is(new Set(keys.map(({ text }) => text)).size, 1)
  const replies = await Promise.all(Array.from({ length: 8 }, (_, i) => send(gateway.url, { body: ask(`hi ${i}`) })))
  for (const { headers } of replies) {
    const route = `/v1/receipts/${headers['x-svc-receipt']}`
    for (let i = 0; i < 4; i++)
      await eventually(async () => (await get(gateway.url, route)).status === 200, `${route} on every worker`)
  }
  t.is(valueAt((await get(gateway.url, '/v1/receipts')).json, 'data.length'), 8)
})
