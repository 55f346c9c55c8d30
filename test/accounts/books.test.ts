import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { AuditRecord } from '../../src/core/ports/audit.ts'
import { type Engine, engines, type Place } from '../stores/sql/places.ts'
import { bearer, createKey, sendAs, startCloudGateway } from '../support/accounts.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import type { Gateway } from '../support/gateway.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'

/** Returns the environment that points a gateway, or a command, to a database. */
function environment(t: Pick<ExecutionContext, 'teardown'>, { databaseUrl, dataDir }: Place): Record<string, string> {
  if (databaseUrl === undefined) return { SVC_DATA_DIR: dataDir }
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-books-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return { SVC_DATA_DIR: folder, DATABASE_URL: databaseUrl }
}

const endings: (() => unknown)[] = []
test.after.always('close what the tests shared', async () => {
  for (const end of endings.reverse()) await end()
})

interface Shared {
  env: Record<string, string>
  gateway: Gateway
}

const opened = new Map<Engine, Promise<Shared>>()

/** Opens one gateway of each engine, for all tests of the file that use users of their own. */
function shared(engine: Engine): Promise<Shared> {
  const open = async () => {
    const { place } = await engine.shared()
    const env = environment({ teardown: (end) => void endings.push(end) }, place)
    const gateway = await startCloudGateway(env)
    endings.push(() => gateway.stop())
    return { env, gateway }
  }
  const known = opened.get(engine) ?? open()
  opened.set(engine, known)
  return known
}

const USE = { body: ask('hi', { model: 'demo/echo' }) }

for (const engine of engines) {
  engine.test('audit: lists actor, action and key of each change, and no secret', async (t) => {
    const { env, gateway } = await shared(engine)
    const limits = { costPerDay: 2, models: ['demo/echo'] }
    const { id, key } = await createKey(gateway, 'alice', { name: 'a private name', limits })
    await sendAs('alice', gateway.url, { method: 'PATCH', path: `/v1/keys/${id}`, body: { pipelineConfig: 'none' } })
    await sendAs('bob', gateway.url, { method: 'PATCH', path: `/v1/keys/${id}`, body: { name: 'x' } })
    await sendAs('alice', gateway.url, { method: 'DELETE', path: `/v1/keys/${id}` })
    await sendAs('alice', gateway.url, { method: 'DELETE', path: `/v1/keys/${id}` })
    await createKey(gateway, 'bob')
    const { code, stdout } = await runCommandInThread(['audit', '--json', '--account', 'alice', '--since', '1h'], {
      env,
    })
    t.is(code, 0)
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Omit<AuditRecord, 'atMs'> & { at: string })
    for (const entry of entries) {
      t.like(entry, { accountId: 'alice', actor: 'user:alice', subject: id })
      t.regex(entry.at, /\.\d{3}Z$/)
    }
    t.deepEqual(
      entries.map(({ action, details }) => [action, details]),
      [
        ['key.created', { fields: ['name', 'limits'], limits: { costPerDay: 2 } }],
        ['key.changed', { fields: ['pipelineConfig'] }],
        ['key.revoked', {}],
      ],
    )
    t.notRegex(stdout, new RegExp(`${key.slice(11)}|a private name`))
    if (engine.name === 'postgres') return // the rest is the command's own
    const all = await runCommandInThread(['audit'], { env })
    t.regex(all.stdout, /key\.created {2,}key_\w+ {2}of bob {2}by user:bob/)
    t.is((await runCommandInThread(['audit', '--since', '2090-01-01'], { env })).stdout, '')
    t.regex((await runCommandInThread(['audit', '--since', 'soon'], { env })).stderr, /--since: expected a date/)
  })

  engine.test('audit: the database itself refuses to change or delete an entry', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const audit = { id: 'aud_1', accountId: 'a', actor: 'operator', action: 'account.suspended', subject: 'a' }
    await store.run('account.open', { id: 'a' })
    t.true(await store.run('account.suspend', { id: 'a', isSuspended: true, audit }))
    for (const statement of [
      "update audit_entry set actor = 'another'",
      'delete from audit_entry',
      ...(engine.name === 'postgres' ? ['truncate audit_entry'] : []),
    ])
      await t.throwsAsync(place.sql(statement), { message: /audit_entry is append-only/ })
    t.like(await store.run('audit.list', {}), [{ id: 'aud_1', actor: 'operator' }])
  })

  engine.test(
    'audit: what was not done leaves no entry, and an entry that cannot be made undoes what was done',
    async (t) => {
      const store = await (await engine.createPlace(t)).open()
      const audit = { id: 'aud_1', accountId: 'a', actor: 'operator', action: 'account.suspended', subject: 'a' }
      t.false(await store.run('account.suspend', { id: 'a', isSuspended: true, audit }))
      t.is((await store.run('audit.list', {})).length, 0)
      await store.run('account.open', { id: 'a' })
      t.true(await store.run('account.suspend', { id: 'a', isSuspended: true, audit }))
      t.true(await store.run('account.suspend', { id: 'a', isSuspended: true, audit: { ...audit, id: 'aud_2' } }))
      await t.throwsAsync(store.run('account.suspend', { id: 'a', isSuspended: false, audit }))
      t.not((await store.run('account.open', { id: 'a' })).suspendedAtMs, null)
      t.is((await store.run('audit.list', {})).length, 1)
    },
  )

  engine.test('audit: page after page, each entry comes once, in its order', async (t) => {
    const { env, gateway } = await shared(engine)
    const made = await Promise.all(Array.from({ length: 40 }, () => createKey(gateway, 'carol')))
    const { stdout } = await runCommandInThread(['audit', '--json', '--account', 'carol'], { env })
    const subjects = [...stdout.matchAll(/"subject":"(\w+)"/g)].map(([, subject]) => subject)
    t.deepEqual([...subjects].sort(), made.map(({ id }) => id).sort())
    const moments = [...stdout.matchAll(/"at":"([^"]+)"/g)].map(([, at]) => at)
    t.deepEqual(moments, [...moments].sort())
  })

  engine.test('account: one that is suspended is refused at once, and served again when it is resumed', async (t) => {
    const { env, gateway } = await shared(engine)
    const { key } = await createKey(gateway, 'mallory')
    const statuses = async () => [
      (await send(gateway.url, { ...USE, headers: bearer(key) })).status,
      (await sendAs('mallory', gateway.url, { method: 'GET', path: '/v1/keys' })).status,
      (await sendAs('dave', gateway.url, { method: 'GET', path: '/v1/keys' })).status,
    ]
    t.deepEqual(await statuses(), [200, 200, 200])
    t.is((await runCommandInThread(['account', 'suspend', 'mallory'], { env })).code, 0)
    t.deepEqual(await statuses(), [403, 403, 200])
    t.is((await runCommandInThread(['account', 'resume', 'mallory'], { env })).code, 0)
    t.deepEqual(await statuses(), [200, 200, 200])
    if (engine.name === 'postgres') return // the rest is the command's own
    t.regex(
      (await runCommandInThread(['account', 'suspend', 'nobody'], { env })).stderr,
      /There is no account `nobody`/,
    )
    const { stdout } = await runCommandInThread(['audit', '--account', 'mallory'], { env })
    t.regex(stdout, /account\.suspended +mallory +of mallory +by operator\n.*account\.resumed/)
  })

  engine.test('keys: the last use outlives the process, and a later one is not undone', async (t) => {
    const env = environment(t, await engine.createPlace(t))
    const first = await startCloudGateway(env)
    t.teardown(() => first.stop())
    const { key } = await createKey(first, 'alice')
    const second = await startCloudGateway(env)
    t.teardown(() => second.stop())
    await send(first.url, { ...USE, headers: bearer(key) })
    await send(second.url, { ...USE, headers: bearer(key) })
    const lastUse = async () => {
      const reply = await sendAs('alice', second.url, { method: 'GET', path: '/v1/keys' })
      return String(valueAt(reply.json, 'keys.0.lastUsedAt'))
    }
    const before = await lastUse()
    await first.stop()
    t.is(await lastUse(), before)
    const third = await startCloudGateway(env)
    t.teardown(() => third.stop())
    const listed = await sendAs('alice', third.url, { method: 'GET', path: '/v1/keys' })
    const written = Date.parse(String(valueAt(listed.json, 'keys.0.lastUsedAt')))
    t.true(written > 0 && written <= Date.parse(before), 'what the first process saw')
  })

  engine.test('keys: an earlier use does not undo a later one, whichever process writes first', async (t) => {
    const store = await (await engine.createPlace(t)).open()
    const audit = { id: 'aud_1', accountId: 'a', actor: 'user:a', action: 'key.created', subject: 'key_1' }
    const rest = { name: null, pipelineConfig: null, createdBy: null, limits: null, most: 1, audit }
    await store.run('keys.create', { id: 'key_1', accountId: 'a', hash: 'h', prefix: 'svc_live_ab', ...rest })
    for (const atMs of [2000, 1000, 3000, 2500]) await store.run('keys.touch', [['key_1', atMs]])
    t.like(await store.run('keys.list', { accountId: 'a' }), [{ id: 'key_1', lastUsedAtMs: 3000 }])
    t.like(await store.run('keys.find', { hash: 'h' }), { id: 'key_1', accountId: 'a', tier: 'free' })
    await t.throwsAsync(
      store.run('keys.create', { id: 'key_2', accountId: 'a', hash: 'g', prefix: 'svc_live_cd', ...rest }),
      { message: /has 1 keys/ },
    )
  })

  engine.test('keys: a write that the database refuses is 500, and nothing is changed', async (t) => {
    const place = await engine.createPlace(t)
    const env = environment(t, place)
    const gateway = await startCloudGateway(env)
    t.teardown(() => gateway.stop())
    const { id, key } = await createKey(gateway, 'alice')
    for (const statement of refusals(engine.name)) await place.sql(statement)
    for (const [method, at, body] of [
      ['POST', '/v1/keys', { name: 'b' }],
      ['PATCH', `/v1/keys/${id}`, { name: 'b' }],
      ['DELETE', `/v1/keys/${id}`, undefined],
    ] as const) {
      const reply = await sendAs('alice', gateway.url, { method, path: at, ...(body && { body }) })
      t.is(reply.status, 500, reply.text)
      t.is(valueAt(reply.json, 'error.type'), 'internal_error')
      t.notRegex(reply.text, /audit|trigger|sql/i)
    }
    t.is((await send(gateway.url, { ...USE, headers: bearer(key) })).status, 200)
    const listed = await sendAs('alice', gateway.url, { method: 'GET', path: '/v1/keys' })
    t.is((valueAt(listed.json, 'keys') as unknown[]).length, 1)
  })
}

/** Returns statements after which the database refuses audit entries, and so all that needs one. */
function refusals(engine: string): string[] {
  if (engine === 'sqlite')
    return ["create trigger refused before insert on audit_entry begin select raise(abort, 'no'); end"]
  return ['alter table audit_entry add constraint refused check (at_ms < 0) not valid']
}
