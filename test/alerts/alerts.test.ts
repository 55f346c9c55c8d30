import { createHmac, hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { type Delivered, startMailServer, startReceiver } from '../support/alert-receivers.ts'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { queryGateway } from '../support/gateway-database.ts'
import { ask, send } from '../support/http-client.ts'
import { parseJson, valueAt } from '../support/json.ts'

/*
 * Two gateways on one database, in front of one provider, with a webhook, a Slack-compatible webhook and a mail server that
 * are real servers. Each test has a client of its own.
 */
const KEY_BYTES = Buffer.from('a-key-of-24-bytes-at-least')
const SECRET = `whsec_${KEY_BYTES.toString('base64')}`
const PASSWORD = 'smtp-canary-7d1e'
const SLACK_PATH = '/services/slack-canary-9c3f'
const CAP_USD = 100
const NANO_PER_CAP = CAP_USD * 1e9
const CANARY = 'a prompt that no alert may repeat'

const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-alerts-'))
const [receiver, mail] = await Promise.all([startReceiver(), startMailServer({ user: 'ops', password: PASSWORD })])
const config = {
  costs: { per_day: CAP_USD },
  alerts: {
    every: '1s',
    retry_after: '100ms',
    smtp: { url: mail.url, from: 'turnpike@example.com' },
    channels: {
      ops: { kind: 'webhook', url: `${receiver.url}/ops`, secret: SECRET },
      chat: { kind: 'slack', url: receiver.url + SLACK_PATH, kinds: ['cap'] },
      mail: { kind: 'email', to: ['ada@example.com', 'ben@example.com'], kinds: ['cap'] },
      moved: { kind: 'webhook', url: `${receiver.url}/moved`, secret: SECRET, kinds: ['spend'] },
    },
  },
}
const env = { SVC_DATA_DIR: dataDir, SVC_PIPELINE: 'cost-guard' }
const fixture = await openFixture({ env, config })
const other = await openFixture({ env, config })

test.after.always('stop all', async () => {
  await Promise.all([fixture.close(), other.close()])
  await Promise.all([receiver.close(), mail.close()])
  await rm(dataDir, { recursive: true, force: true })
})

const dataOf = ({ body }: Delivered) => valueAt(parseJson(body), 'data') as Record<string, unknown>
const titlesAt = (place: string, subject: unknown) =>
  receiver.taken
    .filter((one) => one.path === place && dataOf(one).subject === subject)
    .map((one) => String(dataOf(one).title))

/** Returns the scope of a client's caps in local mode. */
const scopeOf = (credential: string) => `key:local:${hash('sha256', credential, 'base64url')}`

/** Sets what a client has spent today, as its requests would. */
const spend = (scope: string, nanoUsd: number) =>
  queryGateway(
    dataDir,
    `update spend_window set settled_nano_usd = ${nanoUsd} where scope = '${scope}' and window_id like 'd:%'`,
  )

test('alerts: a cap that passes 50, 80 and 100 % is reported once by two gateways, in three channels', async (t) => {
  const headers = { authorization: 'Bearer the-client-that-spends' }
  const body = ask(CANARY, { model: 'claude-sonnet-4-5' })
  t.is((await fixture.scenario().send({ body, headers })).status, 200)
  const scope = scopeOf('the-client-that-spends')
  const name = `Local client ${scope.slice('key:local:'.length).slice(0, 8)}`

  await spend(scope, NANO_PER_CAP * 0.52)
  const half = await receiver.until('/ops', `${name} spent 50 %`)
  await spend(scope, NANO_PER_CAP * 0.81)
  await receiver.until('/ops', `${name} spent 80 %`)
  // Less is left than the request may cost.
  await spend(scope, NANO_PER_CAP - 1000)
  const refused = await other.scenario().send({ body, headers })
  t.is(refused.status, 429, refused.text)
  await receiver.until('/ops', `${name} reached the cap`)

  const titles = titlesAt('/ops', scope)
  t.is(titles.length, 3, titles.join('\n'))
  t.regex(titles[0] ?? '', /spent 50 % of the cap of the day \(\d{4}-\d\d-\d\d\): \$52\.00 of \$100\.00\.$/)
  t.regex(
    titles[2] ?? '',
    /\$100\.00 of \$100\.00 is spent\. Requests that exceed it are refused until .* 00:00 UTC\.$/,
  )
  t.like(dataOf(half), { kind: 'cap', severity: 'info', details: { share: '50 %' } })

  const message = await receiver.until(SLACK_PATH, `${name} reached the cap`)
  t.regex(String(valueAt(parseJson(message.body), 'text')), /^:rotating_light: Local client/)
  const isLast = ({ text }: { text: string }) => text.includes(`Subject: [critical] ${name} reached`)
  await eventually(() => mail.mails.some(isLast), 'the last mail', 20_000)
  const last = mail.mails.find(isLast) ?? { to: [], text: '' }
  t.deepEqual(last.to, ['ada@example.com', 'ben@example.com'])
  t.regex(last.text, /^From: turnpike@example\.com\r\n/m)
  const everything = JSON.stringify([receiver.taken, mail.mails])
  for (const secret of [CANARY, 'the-client-that-spends', SECRET]) t.false(everything.includes(secret), secret)
})

test('alerts: a webhook is signed by Standard Webhooks, with the same id in each repetition', async (t) => {
  const headers = { authorization: 'Bearer the-client-of-the-outage' }
  await fixture.scenario().send({ body: ask('hi', { model: 'claude-sonnet-4-5' }), headers })
  const scope = scopeOf('the-client-of-the-outage')
  const tries = () => receiver.refused.filter((one) => one.path === '/ops' && one.body.includes(scope))
  receiver.statusOf = ({ body }) => (!body.includes(scope) || tries().length > 2 ? 200 : tries().length > 1 ? 302 : 503)
  await spend(scope, NANO_PER_CAP * 0.6)
  const delivered = await receiver.until('/ops', scope)
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = delivered.headers
  const mac = createHmac('sha256', KEY_BYTES).update(`${id}.${at}.${delivered.body}`).digest('base64')
  t.is(signature, `v1,${mac}`)
  t.is(String(id), String(dataOf(delivered).id))
  t.deepEqual(
    tries().map((one) => one.headers['webhook-id']),
    [id, id, id],
  )
  t.true(
    receiver.taken.every((one) => one.path !== '/elsewhere'),
    'no redirect is followed',
  )
})

test('alerts: a provider that fails is reported, and its recovery', async (t) => {
  const failing = fixture.scenario({ kind: 'error', status: 500 })
  const options = { body: ask('hi'), headers: { authorization: 'Bearer the-client-of-failures' } }
  for (let i = 0; i < 5; i++) t.is((await failing.send(options)).status, 502)
  const alert = await receiver.until('/ops', 'Provider anthropic fails')
  t.like(dataOf(alert), { kind: 'provider', severity: 'critical', subject: 'anthropic' })
  await fixture.scenario().send(options)
  // Five intervals after the failures.
  const recovery = async () => {
    await fixture.scenario().send(options)
    return receiver.taken.some(({ body }) => body.includes('Provider anthropic answers again.'))
  }
  await eventually(recovery, 'the recovery', 20_000)
  t.is(titlesAt('/ops', 'anthropic').length, 2)
})

test('alerts: operators list them with their deliveries and test a channel', async (t) => {
  const dashboard = (options: { method: string; path: string; body?: object }) =>
    send(fixture.gateway.url, { ...options, body: options.body as never })
  const tested = await dashboard({ method: 'POST', path: '/dashboard/api/alerts/test', body: { channel: 'moved' } })
  t.is(tested.status, 200, tested.text)
  await receiver.until('/moved', 'This is a test of the channel moved')
  const unknown = await dashboard({ method: 'POST', path: '/dashboard/api/alerts/test', body: { channel: 'nowhere' } })
  t.is(unknown.status, 404)
  t.regex(unknown.text, /`ops`, `chat`, `mail`, `moved`/)
  const crossSite = await send(fixture.gateway.url, {
    path: '/dashboard/api/alerts/test',
    body: { channel: 'moved' },
    headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  })
  t.is(crossSite.status, 403)

  const headers = { authorization: 'Bearer the-client-of-the-list' }
  await fixture.scenario().send({ body: ask('hi', { model: 'claude-sonnet-4-5' }), headers })
  const scope = scopeOf('the-client-of-the-list')
  await spend(scope, NANO_PER_CAP * 0.5)
  await receiver.until('/ops', scope)
  const listedOf = async () => {
    const { json, text } = await dashboard({ method: 'GET', path: '/dashboard/api/alerts' })
    for (const secret of [SECRET, PASSWORD, SLACK_PATH]) t.false(text.includes(secret))
    const data = valueAt(json, 'data') as { subject: string; deliveries: { channel: string; state: string }[] }[]
    return data.find(({ subject }) => subject === scope)?.deliveries ?? []
  }
  await eventually(async () => (await listedOf()).every(({ state }) => state === 'sent'), 'all were sent', 20_000)
  t.deepEqual(
    (await listedOf()).map(({ channel }) => channel),
    ['chat', 'mail', 'ops'],
  )
})
