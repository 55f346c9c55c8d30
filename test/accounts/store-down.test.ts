import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { GatewayError } from '../../src/core/errors.ts'
import { openKeyLookup } from '../../src/stores/sql/accounts/key-lookup.ts'
import { sqliteFile } from '../../src/stores/sql/sqlite/location.ts'
import { createSqlitePlace } from '../stores/sql/places.ts'
import { bearer, createKey, sendAs, startCloudGateway } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { ask, send } from '../support/http-client.ts'
import { createPostgres, isPostgresExpected } from '../support/postgres.ts'

const testWithPostgres = isPostgresExpected ? test : test.skip

testWithPostgres('accounts: while the database is down every key is 503, and none is called invalid', async (t) => {
  const postgres = await createPostgres(t)
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-down-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const env = { SVC_DATA_DIR: folder, DATABASE_URL: await postgres.createDatabase() }
  const gateway = await startCloudGateway(env)
  t.teardown(() => gateway.stop())
  const { id, key } = await createKey(gateway, 'alice')
  const use = () => send(gateway.url, { body: ask('hi', { model: 'demo/echo' }), headers: bearer(key) })
  t.is((await use()).status, 200)
  await postgres.kill()
  const replies = [
    await use(),
    await sendAs('alice', gateway.url, { method: 'GET', path: '/v1/keys' }),
    await sendAs('alice', gateway.url, { path: '/v1/keys' }),
    await sendAs('alice', gateway.url, { method: 'DELETE', path: `/v1/keys/${id}` }),
  ]
  for (const { status, json, headers } of replies) {
    t.is(status, 503)
    t.like(json, { error: { type: 'service_unavailable' } })
    t.is(headers['retry-after'], '1')
  }
  t.is((await send(gateway.url, { method: 'GET', path: '/health' })).status, 200)
  await postgres.start()
  await eventually(async () => (await use()).status === 200, 'the gateway works again')
})

test('accounts: a file that cannot be read is 503, and is tried anew with the next request', async (t) => {
  const place = await createSqlitePlace(t)
  const store = await place.open()
  const gone = mkdtempSync(path.join(tmpdir(), 'turnpike-gone-'))
  const lookup = openKeyLookup({ databaseUrl: undefined, dataDir: gone, store })
  t.throws(() => lookup.find('hash'), { instanceOf: GatewayError, code: 'service_unavailable' })
  const other = await createSqlitePlace(t)
  await (await other.open()).close()
  renameSync(sqliteFile(other.dataDir), sqliteFile(gone))
  t.is(await lookup.find('hash'), undefined)
  lookup.close()
  rmSync(gone, { recursive: true })
})
