import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { CLOUD } from '../support/accounts.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { eventually } from '../support/eventually.ts'
import type { Gateway } from '../support/gateway.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { grantToken } from '../support/stripe/machine-payments.ts'
import { AGENT, credential, readChallenge } from './agent-fixture.ts'
import { openRow } from './row.ts'

const SESSIONS = '/v1/agent/sessions'
const BODY = ask('what is the toll')

/** Reads all files of a folder, as bytes. */
function filesOf(folder: string): Map<string, Buffer> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name))
  return new Map(files.filter((file) => statSync(file).isFile()).map((file) => [file, readFileSync(file)]))
}

test.serial(
  'canaries: what agents pay with is in no log, no table and no output of a command, whatever happens',
  async (t) => {
    const row = await openRow(t, { env: { ...CLOUD, LOG_LEVEL: 'debug' } })
    const [gateway] = row.gateways as [Gateway]
    const secrets = new Map<string, string>()
    const keep = (what: string, value: unknown) => {
      t.true(typeof value === 'string' && value.length >= 8, what)
      secrets.set(what, String(value))
    }
    const call = (headers: Record<string, string | undefined>, options = {}): Promise<Reply> =>
      send(gateway.url, {
        path: AGENT,
        body: BODY,
        ...options,
        headers: { authorization: undefined, ...headers },
      })
    const challengeOf = async (options = {}) => readChallenge(await call({}, options))
    /** Pays; gives how it was answered. */
    const pay = async (name: string, options = {}, card: 'good' | 'declined' = 'good') => {
      const token = grantToken(row.stripe.world, { card })
      const authorization = credential(await challengeOf(options), token)
      keep(`token (${name})`, token)
      keep(`credential (${name})`, authorization.slice('Payment '.length))
      const reply = await call({ authorization, 'idempotency-key': `canary-key-${name}` }, options)
      const receipt = reply.headers['payment-receipt']
      if (receipt !== undefined) keep(`receipt (${name})`, receipt)
      return { reply, authorization }
    }
    const paid = await pay('json')
    const streamed = await pay('stream', { body: { ...BODY, stream: true } })
    const declined = await pay('declined', {}, 'declined')
    row.provider.reply({ kind: 'error', status: 500 })
    const failed = await pay('failed')
    row.provider.reply({ kind: 'answer' })
    row.stripe.fail(({ method }) => (method === 'POST' ? { kind: 'lose-after' } : undefined))
    const lost = await pay('lost')
    row.stripe.mend()
    const session = await pay('session', { path: SESSIONS, body: { calls: 10 } })
    t.deepEqual(
      [paid, streamed, declined, failed, lost, session].map(({ reply }) => reply.status),
      [200, 200, 402, 502, 503, 201],
    )
    const authorization = String(valueAt(session.reply.json, 'authorization'))
    keep('credential (session)', authorization.slice('Payment '.length))
    keep(
      'token (session)',
      JSON.parse(Buffer.from(authorization.slice(8), 'base64url').toString()).payload.session_token,
    )
    t.is((await call({ authorization })).status, 200)
    // Faults whose error messages are likely to quote the request.
    const wrong = ['Payment spt_canary_in_the_clear', 'Payment e30 spt_canary_behind', `${paid.authorization}=`]
    for (const each of wrong) t.is((await call({ authorization: each })).status, 402)
    keep('a token in the clear', 'spt_canary')
    t.is(
      (await call({ authorization: paid.authorization, 'x-api-key': 'sk-canary-key' }, { path: '/v1/messages' }))
        .status,
      401,
    )
    const own = `/v1/receipts/${paid.reply.headers['x-svc-receipt']}`
    await eventually(
      async () =>
        (await call({ authorization: paid.authorization }, { path: own, method: 'GET', body: undefined })).status ===
        200,
      'the receipt',
    )
    keep('what challenges are signed with', row.env.SVC_MPP_SECRET)
    keep('the key of Stripe', row.stripe.key)
    const outputs = await Promise.all(
      [['mpp', 'report', '--json'], ['config'], ['config', '--json']].map((args) =>
        runCommandInThread(args, { env: row.env }),
      ),
    )
    await gateway.stop()
    const log = gateway.log()
    t.true(log.split('\n').length > 20, 'the log reports them')
    const files = filesOf(String(row.env.SVC_DATA_DIR))
    t.true([...files.keys()].some((file) => file.endsWith('.db')))
    for (const [what, secret] of secrets) {
      t.false(log.includes(secret), `${what}: log`)
      for (const { stdout, stderr } of outputs) t.false((stdout + stderr).includes(secret), `${what}: command`)
      for (const [file, bytes] of files) t.false(bytes.includes(secret), `${what}: ${file}`)
    }
    // They would be seen if they were there: of a payment its name is.
    const reference = String(row.stripe.world.objects.all('payment_intent')[0]?.id)
    t.true([...files.values()].some((bytes) => bytes.includes(reference)))
    t.log(`${secrets.size} secrets in none of ${files.size} files, ${outputs.length} commands and the log`)
  },
)

test.serial('plans: what agents pay touches no account, and takes nothing of any plan', async (t) => {
  const row = await openRow(t, { env: CLOUD })
  const [gateway] = row.gateways as [Gateway]
  const tables = await row.sql("select name from sqlite_master where type = 'table'")
  const perAccount: string[] = []
  for (const { name } of tables) {
    const columns = await row.sql(`select name from pragma_table_info('${name}')`)
    if (columns.some((column) => ['account_id', 'user_id'].includes(String(column.name)))) perAccount.push(String(name))
  }
  t.true(perAccount.length >= 5, perAccount.join(', '))
  for (const stream of [false, true]) {
    const body = { ...BODY, stream }
    const challenge = readChallenge(
      await send(gateway.url, { path: AGENT, body, headers: { authorization: undefined } }),
    )
    const headers = { authorization: credential(challenge, grantToken(row.stripe.world)) }
    t.is((await send(gateway.url, { path: AGENT, body, headers })).status, 200)
  }
  await gateway.stop()
  for (const name of perAccount) t.deepEqual(await row.sql(`select * from "${name}" limit 1`), [], name)
  t.is((await row.sql("select id from payment where state = 'consumed'")).length, 2)
})
