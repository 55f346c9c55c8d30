import test from 'ava'
import { bearer, startCloudGateway } from '../support/accounts.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { ask, send } from '../support/http-client.ts'
import { parseJson, valueAt } from '../support/json.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'

const place = createPluginDirectory({ teardown: test.after.always })

test('commands: people, teams, keys and tags are managed on the database of a running gateway', async (t) => {
  const env = { SVC_DATA_DIR: place.path, SVC_CONFIG: place.put('turnpike.yaml', '') }
  await using gateway = await startCloudGateway(env)
  const run = async (line: string, code = 0) => {
    const done = await runCommandInThread(line.split(' '), { env })
    t.is(done.code, code, `${line}: ${done.stderr}`)
    return done.stdout
  }
  const json = async (line: string) => parseJson(await run(`${line} --json`))
  t.like(await json('person set ada --name Ada --role operator --per-day 20'), {
    id: 'ada',
    role: 'operator',
    limits: { costPerDay: 20 },
  })
  t.like(await json('person set ada --per-minute 9'), { limits: { costPerDay: 20, requestsPerMinute: 9 } })
  await run('team create Compilers --per-day 50')
  await run('team add compilers ada --lead')
  t.like(await json('team show Compilers'), { members: [{ id: 'ada', role: 'lead' }], limits: { costPerDay: 50 } })
  const created = await json('key create ada --name ci --team Compilers --tags nightly --models demo/echo')
  const [id, key] = [valueAt(created, 'id'), String(valueAt(created, 'key'))]
  const use = async (secret: string) =>
    (await send(gateway.url, { body: ask('hi', { model: 'demo/echo' }), headers: bearer(secret) })).status
  t.is(await use(key), 200)
  await run(`key suspend ${id}`)
  t.is(await use(key), 403)
  await run(`key resume ${id}`)
  const rotated = await json(`key rotate ${id} --overlap 0`)
  t.deepEqual([await use(key), await use(String(valueAt(rotated, 'key')))], [401, 200])
  await run('person suspend ada')
  t.is(await use(String(valueAt(rotated, 'key'))), 403)
  await run('account resume ada')
  await run('tag set nightly --per-day 1')
  t.regex(await run('tag list'), /nightly +\$0 of \$1/)
  t.regex(await run('key list'), /ci +ada +Compilers +active/)
  t.regex(await run('person list'), /ada +Ada +operator +Compilers/)
  t.like(await json(`key set ${id} --no-limits --expires 2999-01-31`), { expiresAt: '2999-01-31T00:00:00.000Z' })
  await run('team remove Compilers ada')
  await run('team archive Compilers')
  t.regex(await run('team list'), /Compilers \(archived\)/)
  await run(`key revoke ${id}`)
  await run('team show nowhere', 66)
  await run('person set ada --role boss', 2)
})
