import test from 'ava'
import { send } from './http-client.ts'
import { freePort } from './ports.ts'
import { startProvider } from './stand-in-provider.ts'

test('client: sends a default key, unless one is given or removed', async (t) => {
  await using provider = await startProvider({ acceptAnything: true })
  await send(provider.url)
  await send(provider.url, { headers: { 'X-Api-Key': 'mine' } })
  await send(provider.url, { headers: { authorization: undefined } })
  const keys = provider.seen.map(({ headers }) => headers.authorization ?? headers['x-api-key'])
  t.deepEqual(keys, ['Bearer test-key', 'mine', undefined])
})

test('client: distinguishes a clean end from a cut', async (t) => {
  await using provider = await startProvider({ acceptAnything: true })
  provider.reply({ kind: 'reply', body: 'whole' })
  t.like(await send(provider.url), { endedCleanly: true, text: 'whole', error: undefined })
  provider.reply({ kind: 'reply', body: 'whole', cutAfterBytes: 2 })
  t.like(await send(provider.url), { endedCleanly: false, text: 'wh' })
})

test('client: treats a body shorter than its content-length as cut', async (t) => {
  const script = { kind: 'reply', body: 'whole', headers: { 'content-length': '5' }, cutAfterBytes: 4 } as const
  await using provider = await startProvider({ acceptAnything: true, script })
  t.like(await send(provider.url), { status: 200, endedCleanly: false, text: 'whol' })
})

test('client: resolves with the received bytes when its signal aborts', async (t) => {
  const { promise } = Promise.withResolvers<void>()
  const writes = { sizes: [2], between: { until: promise } }
  await using provider = await startProvider({ acceptAnything: true, script: { kind: 'reply', body: 'whole', writes } })
  const leaving = new AbortController()
  const reply = await send(provider.url, { signal: leaving.signal, onChunk: () => leaving.abort() })
  t.like(reply, { status: 200, endedCleanly: false, text: 'wh' })
  t.is(await provider.seen[0]?.closed, 'client-left')
})

test('client: resolves when nothing listens', async (t) => {
  const reply = await send(`http://127.0.0.1:${await freePort()}`)
  t.is(reply.status, 0)
  t.is(reply.error?.code, 'ECONNREFUSED')
})

test('client: rejects when no answer arrives in time', async (t) => {
  await using provider = await startProvider({ acceptAnything: true, script: { kind: 'hang', at: 'before-headers' } })
  await t.throwsAsync(send(provider.url, { timeoutMs: 50 }), { message: /POST \/v1\/messages within 50 ms/ })
})
