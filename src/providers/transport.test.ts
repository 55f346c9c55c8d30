import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import type { ByteSource } from '../core/reply/byte-source.ts'
import { decodeSource } from './decode.ts'
import { providerMessage, readFailedReply, retryAfterMs } from './failed-reply.ts'
import { Transport } from './transport.ts'

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

/** Starts a provider that sends `reply` in one write, and returns the portions in which a transport passes its body on. */
async function portionsOf(reply: string): Promise<{ portions: string[]; error?: Error }> {
  const provider = createServer((socket) => void socket.once('data', () => socket.end(reply)).on('error', () => {}))
  await once(provider.listen(0, '127.0.0.1'), 'listening')
  const { port } = provider.address() as AddressInfo // safe: it listens on TCP
  const timeouts = { connect: 5000, first_byte: 5000, idle: 5000 }
  const transport = new Transport(`http://127.0.0.1:${port}`, {
    provider: 'p',
    connections: 2,
    timeouts,
    proxy: undefined,
    no_proxy: undefined,
  })
  const request = { method: 'POST', path: '/', headers: [], body: Buffer.from('{}') } as const
  const { source } = await transport.send(request, { scope: 'one', signal: new AbortController().signal })
  const portions: string[] = []
  const { promise, resolve } = Promise.withResolvers<Error | undefined>()
  source.start({ data: (portion) => portions.push(portion.toString()), end: () => resolve(undefined), fail: resolve })
  const error = await promise
  await transport.close()
  provider.close()
  return error === undefined ? { portions } : { portions, error }
}

test('transport: the chunks of one read are passed on together', async (t) => {
  const chunks = Array.from({ length: 20 }, (_, i) => chunked(`event ${i}\n\n`))
  const { portions, error } = await portionsOf(`${HEAD}${chunks.join('')}0\r\n\r\n`)
  t.is(error, undefined)
  t.deepEqual(portions, [Array.from({ length: 20 }, (_, i) => `event ${i}\n\n`).join('')])
})

test('transport: chunks that came before a broken end are passed on before the error', async (t) => {
  const { portions, error } = await portionsOf(`${HEAD}${chunked('event 1\n\n')}${chunked('event 2\n\n')}`)
  t.deepEqual(portions, ['event 1\n\nevent 2\n\n'])
  t.true(error instanceof Error)
})

test('decode: what came before a compressed reply broke off is passed on', async (t) => {
  const source: ByteSource = {
    start(sink) {
      sink.data(gzipSync('event: ping\n\n').subarray(0, -8))
      sink.fail(new Error('cut'))
    },
    pause() {},
    resume() {},
    cancel() {},
  }
  const { promise: failed, resolve } = Promise.withResolvers<Error>()
  let text = ''
  decodeSource(source, 'gzip').start({
    data(chunk) {
      text += chunk.toString()
    },
    end: () => t.fail(),
    fail: resolve,
  })
  t.is((await failed).message, 'cut')
  t.is(text, 'event: ping\n\n')
})

test('failed-reply: nothing is left of a credential at the place where a text is cut', (t) => {
  const secret = 'correct-horse-battery-staple'
  for (let before = 0; before < 310; before++) {
    const body = Buffer.from(
      JSON.stringify({ error: { type: `${'x'.repeat(before)}${secret}`, message: `${'x'.repeat(before)}${secret}` } }),
    )
    const { type } = readFailedReply({ status: 500, headers: {}, body, secrets: [secret] })
    t.notRegex(String(type), /corr/)
    t.notRegex(providerMessage(body, [secret]), /corr/)
  }
})

test('failed-reply: retry-after is seconds or a date; a date in the past is no wait, and all else is none', (t) => {
  const waits = {
    '0': 0,
    '7': 7000,
    '0.5': 500,
    '007': 7000,
    ['9'.repeat(400)]: undefined,
    '99999999999': 99999999999000,
  }
  for (const [text, ms] of Object.entries(waits)) t.is(retryAfterMs(text), ms, text)
  for (const past of ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])
    t.is(retryAfterMs(past), 0, past)
  const later = retryAfterMs(new Date(Date.now() + 3_600_000).toUTCString()) ?? 0
  t.true(later > 0 && later <= 3_600_000, `${later}`)
  const odd = ['', ' ', '-5', '+5', 'NaN', 'Infinity', '0x10', '1e3', '1, 2', '5 s', 'in 5 seconds', 'Sun', 'Sunday 99']
  for (const text of odd) t.is(retryAfterMs(text), undefined, JSON.stringify(text))
  t.is(retryAfterMs(['1', '2']), undefined)
  t.is(retryAfterMs(undefined), undefined)
})

test('failed-reply: a retry-after that is unreadable is not passed on', (t) => {
  const passedOn = (text: string) =>
    readFailedReply({ status: 503, headers: { 'retry-after': text }, body: Buffer.alloc(0), secrets: [] }).retryAfter
  t.is(passedOn('7'), '7')
  for (const text of ['', '-5', 'soon']) t.is(passedOn(text), undefined, JSON.stringify(text))
})
