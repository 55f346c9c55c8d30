import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { resetSocket } from './reset-socket.ts'

/** Opens a connection; returns its two ends. */
async function open(t: ExecutionContext): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // safe: it listens on TCP
  const accepted = once(server, 'connection')
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const [socket] = (await accepted) as [Socket]
  client.resume()
  return [socket, client]
}

test('reset: the other end notices', async (t) => {
  const [socket, client] = await open(t)
  const failed = once(client, 'error')
  resetSocket(socket)
  const [error] = await failed
  t.is(error.code, 'ECONNRESET')
})

test('reset: a connection whose end is on its way is closed', async (t) => {
  const [socket] = await open(t)
  const closed = once(socket, 'close') // rejects when the socket emits `error`
  socket.end()
  resetSocket(socket)
  await t.notThrowsAsync(closed)
})
