import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { createKey, sendAs, startCloudGateway } from '../support/accounts.ts'
import { startReceiver } from '../support/alert-receivers.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { valueAt } from '../support/json.ts'

/* One gateway in cloud mode, with a webhook that is a real server. */
const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-alerts-cloud-'))
const receiver = await startReceiver()
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const channels = {
  ops: { kind: 'webhook', url: `${receiver.url}/ops`, secret },
  down: { kind: 'webhook', url: 'http://127.0.0.1:9/secret-path', secret, kinds: ['spend'] },
}
const SVC_CONFIG = path.join(folder, 'turnpike.yaml')
writeFileSync(SVC_CONFIG, JSON.stringify({ alerts: { every: '1s', channels } }))
const env = { SVC_CONFIG, SVC_DATA_DIR: folder }
const gateway = await startCloudGateway({ ...env, SVC_SESSION_OPERATOR_CLAIM: 'sub=boss' })

test.after.always('stop', async () => {
  await gateway.stop()
  await receiver.close()
  rmSync(folder, { recursive: true, force: true })
})

test('alerts: a key that its owner revokes is reported, without its secret', async (t) => {
  const { id, key } = await createKey(gateway, 'ada', { name: 'laptop' })
  const named = { method: 'PATCH', path: '/v1/admin/people/ada', body: { name: 'Ada Lovelace' } }
  t.is((await sendAs('boss', gateway.url, named)).status, 200)
  t.is((await sendAs('ada', gateway.url, { method: 'DELETE', path: `/v1/keys/${id}` })).status, 204)
  const { body } = await receiver.until('/ops', id)
  t.regex(
    body,
    /Key “laptop” \(key_\w+\) of “Ada Lovelace” \(ada\) was revoked by “Ada Lovelace” \(ada\): its requests are refused\./,
  )
  t.is(valueAt(JSON.parse(body), 'data.severity'), 'info')
  t.false(body.includes(key))
  const { stdout } = await runCommandInThread(['alert', 'list'], { env })
  t.regex(stdout, new RegExp(`info .*Key “laptop” .${id}. of “Ada Lovelace” .ada. was revoked .*\\[ops: (sent|due)\\]`))
})

test('alerts: only operators list them and send tests', async (t) => {
  for (const [method, place] of [
    ['GET', '/dashboard/api/alerts'],
    ['POST', '/dashboard/api/alerts/test'],
  ] as const) {
    const body = method === 'POST' ? { channel: 'ops' } : undefined
    const options = { method, path: place, ...(body && { body }) }
    t.is((await sendAs('ben', gateway.url, options)).status, 403)
    t.is((await sendAs('boss', gateway.url, options)).status, 200)
  }
})

test('cli: alert test sends to a channel, and prints why one does not take it, without its address', async (t) => {
  const sent = await runCommandInThread(['alert', 'test', 'ops'], { env })
  t.is(sent.code, 0, sent.stderr)
  t.regex(sent.stdout, /^ops took the test alert alert_/)
  const failed = await runCommandInThread(['alert', 'test', 'down'], { env })
  t.is(failed.code, 1)
  t.regex(failed.stderr, /`down` did not take the test alert: no reply: ECONNREFUSED\./)
  t.notRegex(failed.stderr, /secret-path/)
  const unknown = await runCommandInThread(['alert', 'test', 'nowhere'], { env })
  t.is(unknown.code, 66)
})

test('config: channels that lack what their kind needs are refused, with their place', async (t) => {
  const SVC_CONFIG = path.join(folder, 'bad.yaml')
  for (const [alerts, words] of [
    [
      { channels: { ops: { kind: 'webhook', url: 'https://example.com' } } },
      /alerts\.channels\.ops\.secret.*needs `secret`/,
    ],
    [{ channels: { ops: { kind: 'slack', url: 'file:///etc/passwd' } } }, /alerts\.channels\.ops\.url.*http\(s\)/],
    [{ channels: { mail: { kind: 'email', to: ['a@example.com'] } } }, /alerts\.smtp\.url.*needs `url`/],
  ] as const) {
    writeFileSync(SVC_CONFIG, JSON.stringify({ alerts }))
    const { code, stderr } = await runCommandInThread(['config'], { env: { SVC_CONFIG } })
    t.is(code, 78)
    t.regex(stderr, words)
  }
})
