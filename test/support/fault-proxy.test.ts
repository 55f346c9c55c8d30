import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { eventually } from './eventually.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { connectRaw } from './raw-client.ts'

/** Opens a proxy in front of a server that sends back its input in capitals. */
async function openProxy(t: ExecutionContext): Promise<FaultProxy> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (piece) => socket.write(piece.toString().toUpperCase()))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // safe: it listens on TCP
  const proxy = await startFaultProxy(`tcp://user@127.0.0.1:${port}/path`)
  t.teardown(async () => {
    await proxy.close()
    server.close()
  })
  return proxy
}

test('fault proxy: without a fault all passes, at its address', async (t) => {
  const proxy = await openProxy(t)
  t.is(proxy.url, `tcp://user@127.0.0.1:${proxy.port}/path`)
  const client = await connectRaw(proxy.port)
  client.write('hello')
  await client.until('HELLO')
  t.is(proxy.connections(), 1)
  client.destroy()
  await eventually(() => proxy.connections() === 0, 'the connection is closed')
})

test('fault proxy: refuses connections, resets those that were open, and accepts them again', async (t) => {
  const proxy = await openProxy(t)
  const client = await connectRaw(proxy.port)
  client.write('a')
  await client.until('A')
  await proxy.set({ kind: 'refuses' })
  await client.closed
  await t.throwsAsync(connectRaw(proxy.port), { code: 'ECONNREFUSED' })
  await proxy.set(undefined)
  const again = await connectRaw(proxy.port)
  again.write('b')
  await again.until('B')
  again.destroy()
})

for (const [kind, before] of [
  ['hangs', ''],
  ['stalls', 'HEL'],
] as const)
  test(`fault proxy: ${kind}, and continues where it stopped`, async (t) => {
    const proxy = await openProxy(t)
    const client = await connectRaw(proxy.port)
    await proxy.set({ kind })
    client.write('hello')
    if (before !== '') await client.until(before)
    t.is(client.received(), before)
    await proxy.set(undefined)
    await client.until('HELLO')
    t.is(client.received(), 'HELLO')
    client.destroy()
  })

test('fault proxy: forgets a connection for good, and relays new ones', async (t) => {
  const proxy = await openProxy(t)
  const client = await connectRaw(proxy.port)
  await proxy.set({ kind: 'forgets' })
  client.write('a')
  await proxy.set(undefined)
  client.write('b')
  const other = await connectRaw(proxy.port)
  other.write('c')
  await other.until('C')
  t.is(client.received(), '')
  for (const each of [client, other]) each.destroy()
})

test('fault proxy: resets connections that send, answers with the set bytes', async (t) => {
  const proxy = await openProxy(t)
  await proxy.set({ kind: 'resets' })
  const client = await connectRaw(proxy.port)
  client.write('a')
  t.is(await client.closed, '')
  await proxy.set({ kind: 'answers', bytes: Buffer.from('no') })
  const other = await connectRaw(proxy.port)
  other.write('b')
  await other.until('no')
  t.is(other.received(), 'no')
  other.destroy()
})

test('fault proxy: slow bytes are late, and complete', async (t) => {
  const proxy = await openProxy(t)
  await proxy.set({ kind: 'slow', delayMs: 30 })
  const client = await connectRaw(proxy.port)
  const startedAtMs = performance.now()
  client.write('hello')
  await client.until('HELLO')
  t.true(performance.now() - startedAtMs >= 55)
  client.destroy()
})
