import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { sqliteFile, telemetryFile } from '../../src/stores/sql/sqlite/location.ts'
import { bearer, CLOUD, createKey, sessionToken } from '../support/accounts.ts'
import { openFixture } from '../support/fixture.ts'
import { ask, type Reply, type SendOptions, send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'

/*
 * Secrets are put into every field that a client has, those of others too; then all that the gateway has written is
 * searched for them: what it logs at `debug`, its databases, the bodies of its errors.
 */

/** Has no form by which a secret is recognised. */
const PROVIDER_KEY = 'canary of a provider'.replaceAll(' ', '-')

const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-canary-'))
const config = { limits: { failures_per_minute: 0, requests_per_minute: 0 } }
const fixture = await openFixture({
  provider: { acceptAnything: true },
  config,
  env: { ...CLOUD, SVC_DATA_DIR: folder, LOG_LEVEL: 'debug', SVC_PIPELINE: FULL_PIPELINE },
})
const { key, id } = await createKey(fixture.gateway, 'alice')
const token = await sessionToken('alice')
const secrets = [key, PROVIDER_KEY, token]
const replies: Reply[] = []
test.after.always(async () => {
  await fixture.close()
  rmSync(folder, { recursive: true, force: true })
})

async function sendSecretly(options: SendOptions): Promise<Reply> {
  const reply = await send(fixture.gateway.url, {
    ...options,
    headers: { ...bearer(key), 'x-provider-key': PROVIDER_KEY, ...options.headers },
  })
  replies.push(reply)
  return reply
}

/** Returns a request that a provider accepts, with a secret in each field that the client sets. */
function laden(secret: string): JsonObject {
  const word = secret.replaceAll('.', '_').slice(0, 120)
  const tool = {
    name: word,
    description: secret,
    input_schema: { type: 'object', properties: { [word]: { enum: [secret] } } },
  }
  const turn = [
    { role: 'user', content: [{ type: 'text', text: `${secret} ${'words and words '.repeat(40)}`, [word]: secret }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: word, name: word, input: { [word]: secret } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: word, content: `${secret}\n`.repeat(400) }] },
  ]
  return {
    ...ask(secret),
    messages: [...turn, ...turn, { role: 'user', content: secret }],
    system: [{ type: 'text', text: secret }],
    metadata: { user_id: secret, [word]: secret },
    stop_sequences: [secret],
    tools: [tool, ...Array.from({ length: 30 }, (_, i) => ({ ...tool, name: `${word.slice(0, 50)}${i}` }))],
    [word]: secret,
  }
}

/** Returns the same as a chat completion. */
function ladenChat(secret: string): JsonObject {
  const word = secret.replaceAll('.', '_').slice(0, 64)
  const parameters = { type: 'object', properties: { [word]: { enum: [secret] } } }
  const messages = [
    { role: 'system', content: secret },
    { role: 'user', content: secret, name: word },
    {
      role: 'assistant',
      tool_calls: [
        { id: word, type: 'function', function: { name: word, arguments: JSON.stringify({ [word]: secret }) } },
      ],
    },
    { role: 'tool', tool_call_id: word, content: `${secret}\n`.repeat(400) },
  ]
  const tools = [{ type: 'function', function: { name: word, description: secret, parameters } }]
  return { model: 'claude-sonnet-4-5', messages, tools, stop: [secret], user: secret, metadata: { [word]: secret } }
}

/** Returns bodies with an invalid field each, which holds a secret; the error names the field. */
function faulty(secret: string): JsonObject[] {
  const fields = [
    'model',
    'max_tokens',
    'messages',
    'system',
    'temperature',
    'top_p',
    'top_k',
    'stop_sequences',
    'stream',
  ]
  return [
    ...[...fields, 'tools', 'tool_choice', 'metadata'].map((field) => ask('hi', { [field]: secret })),
    ask('hi', { messages: [{ role: secret, content: 'a' }] }),
    ask('hi', { messages: [{ role: 'user', content: [{ type: secret }] }] }),
    ask('hi', { messages: [{ role: 'user', content: [{ type: 'image', source: { type: secret } }] }] }),
    ask('hi', { model: `anthropic/${secret}` }),
    ask('hi', { model: `${secret}/claude` }),
  ]
}

test.serial('canary: requests with a secret everywhere', async (t) => {
  for (const secret of secrets) {
    const query = `?key=${encodeURIComponent(secret)}`
    for (const route of ['/v1/messages', '/v1/chat/completions', '/v1/messages/count_tokens']) {
      const body = route.includes('chat') ? ladenChat(secret) : laden(secret)
      await sendSecretly({ path: route + query, body })
      const { status, text } = await sendSecretly({ path: route, body })
      t.is(status, 200, `${route} ${text}`)
      await sendSecretly({ path: route, body: { ...body, stream: true } })
      for (const body of faulty(secret)) await sendSecretly({ path: route, body })
      for (const body of [
        secret,
        `{"model":${secret}`,
        `{"${secret}"`,
        `"${secret}"`,
        `{"model":"a","model":"${secret}"}`,
      ])
        await sendSecretly({ path: route, body })
      await sendSecretly({ path: route, body: laden(secret), headers: { 'content-type': secret } })
      await sendSecretly({ path: route, body: laden(secret), headers: { 'content-encoding': secret } })
    }
    const words = ['anthropic-beta', 'anthropic-version', 'provider-beta', 'user-agent', 'accept', 'idempotency-key']
    const wishes = ['x-svc-pipe', 'x-svc-patterns', 'x-svc-preserve', 'x-svc-cache', 'x-svc-session', 'x-request-id']
    for (const header of [...words, ...wishes, 'cookie', 'x-claude-code-session-id', 'traceparent', 'origin'])
      await sendSecretly({ body: laden(secret), headers: { [header]: secret } })
    for (const pipe of [`patterns?use=${secret}`, `exact-cache?${secret}=1`, `exact-cache?ttl=${secret}`])
      await sendSecretly({ body: ask('hi'), headers: { 'x-svc-pipe': pipe } })
  }
  t.true(replies.filter(({ status }) => status === 200).length > 20)
  t.true(replies.filter(({ status }) => status === 400).length > 50)
})

test.serial('canary: paths, credentials and keys with a secret in them', async (t) => {
  for (const secret of secrets) {
    for (const at of [
      '/',
      '/v1/',
      '/v1/keys/',
      '/v1/models/',
      '/v1/receipts/',
      '/v1/receipts?after=',
      '/v1/receipts?limit=',
    ])
      for (const method of ['GET', 'PATCH', 'DELETE', 'HEAD'])
        await sendSecretly({ method, path: at + encodeURIComponent(secret), headers: bearer(token) })
    for (const bad of [`${secret}x`, secret.slice(0, -1), `Bearer ${secret}`])
      for (const at of ['/v1/messages', '/v1/keys'])
        await sendSecretly({ path: at, body: '{}', headers: { authorization: `Bearer ${bad}` } })
    const bodies: JsonObject[] = [
      { name: secret },
      { pipelineConfig: secret },
      { [secret]: secret },
      { limits: { models: [secret], modules: [secret] } },
      { limits: { [secret]: 1 } },
      { limits: { costPerDay: secret } },
    ]
    for (const body of bodies) {
      await sendSecretly({ path: '/v1/keys', body, headers: bearer(token) })
      await sendSecretly({ method: 'PATCH', path: `/v1/keys/${id}`, body, headers: bearer(token) })
    }
  }
  t.true(replies.some(({ status }) => status === 404))
})

test.serial('canary: nothing that the gateway has written holds a secret', async (t) => {
  await fixture.gateway.stop()
  const written: [string, string][] = fixture.gateway
    .log()
    .split('\n')
    .map((line) => ['log', line])
  for (const file of [sqliteFile(folder), telemetryFile(folder)]) {
    const database = new DatabaseSync(file, { readOnly: true })
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
    for (const { name } of tables)
      for (const row of database.prepare(`select * from ${name}`).all())
        written.push([String(name), JSON.stringify(row)])
    database.close()
  }
  for (const { status, text, headers } of replies) {
    if (status >= 400) written.push(['error', text])
    written.push(['headers', JSON.stringify(headers)])
  }
  const kinds = Object.entries(Object.groupBy(written, ([kind]) => kind))
  const counts = Object.fromEntries(kinds.map(([kind, lines]) => [kind, lines?.length ?? 0]))
  for (const kind of ['log', 'error', 'receipt', 'usage_request', 'audit_entry', 'api_key'])
    t.true((counts[kind] ?? 0) > 0, `${kind}: ${JSON.stringify(counts)}`)
  // A key’s prefix is shown on purpose: the rest of it is not.
  const canaries = [key.slice(11, 31), PROVIDER_KEY, token.split('.')[1] ?? '', token.split('.')[2] ?? '']
  const leaks = written.filter(([, line]) => canaries.some((canary) => line.includes(canary)))
  t.deepEqual(
    leaks.slice(0, 5),
    [],
    `${leaks.length} of ${written.length}: ${[...new Set(leaks.map(([kind]) => kind))]}`,
  )
})
