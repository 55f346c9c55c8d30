import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import { collectHeldResources } from './held-resources.ts'

const work = new AsyncLocalStorage<string>()
const WAIT_MS = 10_000

test('held-resources: a timer, a server, a socket and a thread are held until they are closed', async (t) => {
  const resources = collectHeldResources(() => work.getStore() === t.title)
  const opened = await work.run(t.title, async () => {
    const timer = setInterval(() => {}, 1e6)
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const socket = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
    await once(socket, 'connect')
    const thread = new Worker('setInterval(() => {}, 1e6)', { eval: true })
    await once(thread, 'online')
    return { timer, server, socket, thread }
  })
  const left = await resources.left(0)
  for (const type of ['Timeout', 'TCPSERVERWRAP', 'TCPWRAP', 'WORKER'])
    t.true(left.includes(type), `${type} of ${left}`)
  clearInterval(opened.timer)
  opened.socket.destroy()
  opened.server.close()
  await opened.thread.terminate()
})

test('held-resources: what is closed, does not keep a process running, or is of other work is not held', async (t) => {
  const resources = collectHeldResources(() => work.getStore() === t.title)
  const other = setInterval(() => {}, 1e6)
  await work.run(t.title, async () => {
    clearInterval(setInterval(() => {}, 1e6))
    setInterval(() => {}, 1e6).unref()
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    server.close()
    await new Worker('', { eval: true }).terminate()
  })
  t.deepEqual(await resources.left(WAIT_MS), [])
  clearInterval(other)
})
