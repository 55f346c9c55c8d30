import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import test from 'ava'
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
