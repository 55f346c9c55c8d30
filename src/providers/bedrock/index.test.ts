import test from 'ava'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import { startBedrock } from '../../../test/support/stand-in-bedrock.ts'
import type { RelayCall } from '../../core/ports/provider.ts'
import type { ProviderParts } from '../kind.ts'
import { kind } from './index.ts'

const KEYS = { accessKeyId: 'AKIA1', secretAccessKey: 'secret', region: 'eu-west-1' }

function partsAt(nowMs: () => number): ProviderParts {
  const timeouts = { connect: 5000, first_byte: 5000, idle: 5000 }
  const settings = { tries: 1, connections: 4, reply_limit: 65_536, timeouts, forward_headers: ['x-*'] }
  const tokens = { inputTokens: () => 1 }
  return { settings, passThrough: false, isShared: true, log: createRecordingLog(), tokens, random: () => 0, nowMs }
}

async function open(url: string, nowMs: () => number) {
  const section = kind.options.parse({
    base_url: url,
    region: KEYS.region,
    access_key_id: KEYS.accessKeyId,
    secret_access_key: KEYS.secretAccessKey,
  })
  const [provider] = await kind.create(section, partsAt(nowMs))
  if (provider === undefined) throw new Error('expected a provider')
  return provider
}

const MODEL = 'anthropic.counted'
const target = { provider: 'bedrock', model: MODEL }
const call: RelayCall = {
  method: 'POST',
  path: '/v1/messages/count_tokens',
  query: '',
  headers: { 'x-amz-security-token': 'a caller’s own', 'x-other': 'forwarded', 'content-type': 'text/plain' },
  body: Buffer.from(`{"model":"${MODEL}","messages":[{"role":"user","content":"hi"}]}`),
  credential: { header: 'x-api-key', secret: '' },
  requestId: 'req_1',
  scope: 'local:a',
  signal: new AbortController().signal,
}

test('bedrock: without a region or an address there is no such provider', async (t) => {
  t.deepEqual(
    await kind.create(
      kind.options.parse({}),
      partsAt(() => 0),
    ),
    [],
  )
})

test('bedrock: an address without a region can only be called with an API key', (t) => {
  t.false(kind.options.safeParse({ base_url: 'https://example.com' }).success)
  t.true(kind.options.safeParse({ base_url: 'https://example.com', api_key: 'k' }).success)
})

test('bedrock: a request that is refused after minutes is signed afresh, once', async (t) => {
  await using server = await startBedrock(KEYS)
  let nowMs = 0
  server.reply(MODEL, () => {
    nowMs += 5 * 60_000
    return { kind: 'error', status: 403, message: 'Signature expired' }
  })
  const provider = await open(server.url, () => nowMs)
  t.is((await provider.countTokens(call, target)).status, 403)
  t.is(server.seenOf(MODEL).length, 2)
  await provider.close()
})

test('bedrock: a request that is refused while its signature is valid is not sent again', async (t) => {
  await using server = await startBedrock(KEYS)
  let nowMs = 0
  let tookMs = 0
  server.reply(MODEL, () => {
    nowMs += tookMs
    return { kind: 'error', status: 403 }
  })
  const provider = await open(server.url, () => nowMs)
  t.is((await provider.countTokens(call, target)).status, 403)
  t.is(server.seenOf(MODEL).length, 1)
  tookMs = 4 * 60_000
  t.is((await provider.countTokens(call, target)).status, 403)
  t.is(server.seenOf(MODEL).length, 2)
  await provider.close()
})

test('bedrock: headers that the operator forwards do not change the signature', async (t) => {
  await using server = await startBedrock(KEYS)
  const provider = await open(server.url, () => 0)
  t.is((await provider.countTokens(call, target)).status, 200)
  t.like(server.seenOf(MODEL)[0]?.headers, { 'x-other': 'forwarded', 'content-type': 'application/json' })
  await provider.close()
})
