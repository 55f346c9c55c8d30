import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { type Fixture, startFixture, stateOf } from '../support/cache-fixture.ts'
import { startGateway } from '../support/gateway.ts'
import type { Reply } from '../support/http-client.ts'
import { type JsonObject, parseJson, valueAt } from '../support/json.ts'
import { type EmbeddingsOptions, startEmbeddings } from '../support/stand-in-embeddings.ts'
import { rowOf } from '../support/telemetry.ts'

const PIPE = { pipe: 'semantic-cache?mode=threshold&threshold=0.5' }
const KEY = 'sk-embeddings-canary'
const VARIABLE = 'EMBEDDINGS_KEY'
/** Many start at the same time. */
process.setMaxListeners(50) // every start that runs here has a clean-up of its own

/** A fixture, and where it keeps its data. */
interface DataFixture extends Fixture {
  readonly dataDir: string
}

/** A fixture whose budget is too long to be met by chance on a machine that is busy. */
async function fixtureWith(
  t: ExecutionContext,
  options: JsonObject,
  env: Record<string, string> = {},
): Promise<DataFixture> {
  const config = { plugins: { 'semantic-cache': { persist: false, embedder_budget: '4s', ...options } } }
  const dataDir = temporaryFolder(t)
  const fixture = await startFixture({ config, env: { SVC_DATA_DIR: dataDir, ...env } })
  t.teardown(fixture.close)
  return { ...fixture, dataDir }
}

interface RemoteFixture {
  readonly server?: EmbeddingsOptions
  /** Options of the module, and of its endpoint. */
  readonly options?: JsonObject
  readonly remote?: JsonObject
}

async function remoteFixture(t: ExecutionContext, { server = {}, options = {}, remote = {} }: RemoteFixture) {
  const endpoint = await startEmbeddings({ apiKey: KEY, ...server })
  t.teardown(endpoint.close)
  // As an operator writes it: the environment's value is put in its place.
  const settings = { url: endpoint.endpoint, model: 'words-1', api_key: `$\u007b${VARIABLE}}`, ...remote }
  const fixture = await fixtureWith(t, { embedder: 'remote', remote: settings, ...options }, { [VARIABLE]: KEY })
  return { endpoint, fixture }
}

function temporaryFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-embedders-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Why the module did not look further, as the trace has it. */
async function reasonOf({ dataDir }: DataFixture, { headers }: Reply): Promise<unknown> {
  const { trace } = await rowOf(dataDir, headers['x-svc-receipt'])
  return valueAt(parseJson(String(trace)), 'steps.0.details.reason')
}

test('embedders: an endpoint serves a gateway, receives the last text alone, and its key is in no reply and no log', async (t) => {
  const { fixture, endpoint } = await remoteFixture(t, {})
  const extra = { system: 'A confidential instruction.' }
  await fixture.ask('How do I moor a dinghy?', { ...PIPE, extra })
  t.is(stateOf(await fixture.ask('How do I moor a small dinghy?', { ...PIPE, extra })), 'semantic')
  t.deepEqual(
    endpoint.seen.map(({ json }) => json),
    ['How do I moor a dinghy?', 'How do I moor a small dinghy?'].map((text) => ({
      input: [text],
      model: 'words-1',
      dimensions: 512,
      encoding_format: 'float',
    })),
  )
  t.false(fixture.gateway.log().includes(KEY))
})

test('embedders: while the endpoint fails, requests are answered by the provider, the trace has the reason, and it heals', async (t) => {
  let isWell = false
  const script = () => (isWell ? undefined : ({ kind: 'status', status: 500 } as const))
  const { fixture } = await remoteFixture(t, { server: { script } })
  const failed = await fixture.ask('How do I moor a dinghy?', PIPE)
  t.is(failed.status, 200)
  t.is(await reasonOf(fixture, failed), 'embedder-fault')
  t.is(stateOf(await fixture.ask('How do I moor a dinghy?', PIPE)), 'hit', 'a text without a vector is found by itself')
  isWell = true
  await fixture.ask('How do I wash a kettle?', PIPE)
  t.is(stateOf(await fixture.ask('How do I wash a black kettle?', PIPE)), 'semantic')
})

test('embedders: a request does not wait for an endpoint that hangs', async (t) => {
  const server = { script: () => ({ kind: 'hang' }) as const }
  const { fixture } = await remoteFixture(t, { server, options: { embedder_budget: '20ms' } })
  const reply = await fixture.ask('How do I moor a dinghy?', PIPE)
  t.is(reply.status, 200)
  t.is(await reasonOf(fixture, reply), 'embedder-late')
})

const REMOVED: [claim: string, options: JsonObject, expected: RegExp][] = [
  ['mode `bound`', { mode: 'bound' }, /mode `bound` is gone: use `strict`, or `judged`/],
  ['`delta`', { delta: 0.02 }, /option `delta` is gone: .*use `mode: judged`/],
  ['embedder `onnx`', { embedder: 'onnx' }, /embedder `onnx` is gone: run the model in a server .* use `remote`/],
  ['`onnx`', { onnx: { folder: '/models' } }, /option `onnx` is gone: .*use `embedder: remote`/],
  ['`remote.pause`', { remote: { pause: '1m' } }, /option `pause` is gone: .*ten seconds/],
  ['`max_entries`', { max_entries: 500 }, /option `max_entries` is gone: use `max_entries_memory`/],
]
const REFUSED: [claim: string, options: JsonObject, expected: RegExp][] = [
  ['no address', { embedder: 'remote' }, /remote\.url: .*`embedder: remote` needs it/],
  ['no model', { embedder: 'remote', remote: { url: 'http://127.0.0.1:1/' } }, /remote\.model: .*needs it/],
  ['an address that is none', { remote: { url: 'ftp://x/' } }, /remote\.url/],
]

for (const [claim, options, expected] of [...REFUSED, ...REMOVED]) {
  test(`embedders: ${claim} is logged at the start`, async (t) => {
    const config = { pipeline: { default: 'semantic-cache' }, plugins: { 'semantic-cache': options } }
    const file = path.join(temporaryFolder(t), 'turnpike.yaml')
    writeFileSync(file, JSON.stringify(config))
    const error = await t.throwsAsync(startGateway({ SVC_CONFIG: file }).then((gateway) => gateway.stop()))
    t.regex(error.message, expected)
  })
}

test('embedders: a caller may choose none', async (t) => {
  const fixture = await fixtureWith(t, {})
  const reply = await fixture.ask('Hello', { pipe: 'semantic-cache?embedder=remote' })
  t.is(reply.status, 400)
  t.regex(String(valueAt(reply.json, 'error.message')), /embedder/)
})

test('semantic-cache: a request that it cannot apply to has the reason in its trace, in one word', async (t) => {
  const fixture = await fixtureWith(t, {})
  const tools = [{ name: 'look', input_schema: { type: 'object' } }]
  const asked = { pipe: 'semantic-cache', extra: { tools } }
  const reply = await fixture.ask('How do I read the file?', asked)
  t.is(stateOf(await fixture.ask('How do I read the file?', asked)), undefined)
  t.is(fixture.calls('How do I read the file?'), 2)
  t.is(await reasonOf(fixture, reply), 'tools')
})
