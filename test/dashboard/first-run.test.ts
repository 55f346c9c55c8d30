import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { type Environment, startGateway } from '../support/gateway.ts'
import { type SendOptions, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { startProvider } from '../support/stand-in-provider.ts'

/*
 * Two gateways on one database, without a provider's key; the tests run one after another.
 */
const KEY = 'sk-ant-first-run-key-4711'
const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-first-run-'))
const provider = await startProvider({ apiKey: KEY })
const ENV: Environment = { SVC_DATA_DIR: folder, ANTHROPIC_BASE_URL: provider.url, SVC_PIPELINE: 'none' }
const one = await startGateway(ENV)
const other = await startGateway(ENV)
const gateways = [one, other]

test.after.always('stop the gateways and the stand-in', async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()))
  await provider.close()
  rmSync(folder, { recursive: true, force: true })
})

const MESSAGE = { model: 'claude-sonnet-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] }
const put = (url: string, name: string, body: object) =>
  send(url, { method: 'PUT', path: `/dashboard/api/providers/${name}/key`, body: { ...body } })
const get = (url: string, pathname: string, options: SendOptions = {}) =>
  send(url, { method: 'GET', path: `/dashboard/api/${pathname}`, ...options })

/** Returns what the gateway shows about a provider. */
async function shown(url: string, name: string): Promise<unknown> {
  const { json } = await get(url, 'providers')
  const data = valueAt(json, 'data')
  return Array.isArray(data) ? data.find((each) => valueAt(each, 'name') === name) : undefined
}

function everyFile(): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

test.serial('first run: without a key the session, the banner and the providers name what is missing', async (t) => {
  t.is(valueAt((await get(one.url, 'session')).json, 'hasProvider'), false)
  t.like(await shown(one.url, 'anthropic'), { variable: 'ANTHROPIC_API_KEY', source: null, isStored: false })
  t.like(await shown(one.url, 'groq'), { variable: 'GROQ_API_KEY', baseUrl: 'https://api.groq.com/openai/v1' })
  t.regex(one.log(), /Set ANTHROPIC_API_KEY, or enter a key on .*#\/start/)
})

test.serial('first run: a key that the provider refuses is not stored, and the reason is clear', async (t) => {
  const reply = await put(one.url, 'anthropic', { apiKey: 'sk-ant-another-key-0000' })
  t.is(reply.status, 400)
  t.regex(reply.text, /anthropic refused the key \(status 401\)/)
  t.notRegex(reply.text, /another-key/)
  t.like(await shown(one.url, 'anthropic'), { isStored: false })
})

test.serial('first run: unusable names, addresses and bodies are refused', async (t) => {
  const tries: [string, object, RegExp][] = [
    ['nowhere', { apiKey: KEY }, /expected the address/],
    ['nowhere', { apiKey: KEY, baseUrl: 'ftp://x' }, /http\(s\) address/],
    ['UPPER', { apiKey: KEY, baseUrl: 'http://127.0.0.1:1' }, /expected one of/],
    ['anthropic', { apiKey: KEY, baseUrl: 'http://127.0.0.1:1' }, /set by the environment/],
    ['anthropic', { apiKey: 'a b' }, /apiKey/],
    ['house', { apiKey: KEY, baseUrl: 'http://127.0.0.1:1/v1' }, /cannot be reached/],
  ]
  for (const [name, body, words] of tries) {
    const reply = await put(one.url, name, body)
    t.is(reply.status, 400, name)
    t.regex(reply.text, words)
    t.false(reply.text.includes(KEY))
  }
})

test.serial(
  'first run: a key is tested, stored encrypted, and used by every process from the next request on',
  async (t) => {
    t.is((await send(one.url, { body: MESSAGE })).status, 401)
    const reply = await put(one.url, 'anthropic', { apiKey: KEY })
    t.is(reply.status, 200, reply.text)
    t.like(await shown(one.url, 'anthropic'), { source: 'dashboard', endsWith: '4711', isStored: true })
    t.is((await send(one.url, { body: MESSAGE })).status, 200)
    t.is(valueAt((await get(one.url, 'session')).json, 'hasProvider'), true)
    await eventually(
      async () => (await send(other.url, { body: MESSAGE })).status === 200,
      'the key in the other process',
    )
    t.is(valueAt((await send(one.url, { method: 'GET', path: '/health' })).json, 'providers.anthropic'), true)
  },
)

test.serial('first run: the key is in no file, log, page or list of changes in clear', async (t) => {
  t.is(statSync(path.join(folder, 'secrets-key')).mode & 0o777, 0o600)
  const pages = await Promise.all(
    ['session', 'settings', 'settings/changes', 'providers', 'requests'].map((page) => get(one.url, page)),
  )
  for (const reply of pages) t.is(reply.status, 200)
  const texts = [everyFile(), one.log(), other.log(), ...pages.map(({ text }) => text)]
  for (const text of texts) t.false(text.includes(KEY))
  const options = valueAt(pages[1]?.json, 'options')
  const option =
    Array.isArray(options) && options.find((each) => valueAt(each, 'name') === 'providers.anthropic.api_key')
  t.like(option, { value: '[hidden]', source: 'dashboard' })
  const [change] = valueAt(pages[2]?.json, 'data') as [object]
  t.like(change, { actor: 'operator', name: 'providers.anthropic.api_key', value: '{"endsWith":"4711"}' })
})

test.serial(
  'first run: with another secret the stored key is unusable, with the reason, and the gateway starts',
  async (t) => {
    await using third = await startGateway({ ...ENV, SVC_SECRETS_KEY: 'another secret of at least 32 bytes' })
    t.like(await shown(third.url, 'anthropic'), { source: null, isStored: true, endsWith: null })
    t.regex(JSON.stringify(await shown(third.url, 'anthropic')), /another SVC_SECRETS_KEY/)
  },
)

test.serial(
  'first run: a key of the configuration takes precedence, and read-only settings ignore stored keys',
  async (t) => {
    await using configured = await startGateway({ ...ENV, ANTHROPIC_API_KEY: 'sk-ant-of-the-operator' })
    t.like(await shown(configured.url, 'anthropic'), { source: 'environment', endsWith: null })
    t.regex((await put(configured.url, 'anthropic', { apiKey: KEY })).text, /takes precedence/)
    await using readOnly = await startGateway({ ...ENV, SVC_SETTINGS_EDITABLE: 'no' })
    t.is((await send(readOnly.url, { body: MESSAGE })).status, 401)
    const refused = await put(readOnly.url, 'anthropic', { apiKey: KEY })
    t.is(refused.status, 403)
    t.regex(refused.text, /Set ANTHROPIC_API_KEY/)
  },
)

test.serial('first run: pages of other sites and proxied clients can neither see nor store a key', async (t) => {
  const headers = [
    { origin: 'http://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'x-forwarded-for': '203.0.113.7' },
  ]
  for (const sent of headers) {
    const path = '/dashboard/api/providers/anthropic/key'
    const reply = await send(one.url, { method: 'PUT', path, body: { apiKey: KEY }, headers: sent })
    t.is(reply.status, 403, JSON.stringify(sent))
  }
  await using open = await startGateway({ ...ENV, SVC_DASHBOARD: 'open' })
  const path = '/dashboard/api/providers/anthropic/key'
  const reply = await send(open.url, { method: 'PUT', path, body: { apiKey: KEY }, headers: headers[2] ?? {} })
  t.is(reply.status, 403, 'open to others, changed on this machine alone')
})

test.serial('first run: a deleted key is gone from the database and from the next request', async (t) => {
  const reply = await send(one.url, { method: 'DELETE', path: '/dashboard/api/providers/anthropic/key' })
  t.is(reply.status, 200)
  t.is((await send(one.url, { body: MESSAGE })).status, 401)
  t.like(await shown(one.url, 'anthropic'), { source: null, isStored: false })
})
