/**
 * A process that is a PostgreSQL server with one database: `node server.ts <port> <folder>`.
 *
 * PGlite has a single session, which all connections share: each gets it from the first message up to the one that asks
 * for an answer (a query, a Sync), or up to the end of its transaction. What the session is told by NOTIFY goes to every
 * connection that has sent LISTEN. Settings of a connection, `statement_timeout` among them, are not known.
 */
import { createServer, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite/vector'
import { messageOf, takeMessages } from './messages.ts'

const SSL_REQUEST_BYTES = 8
const READY = Buffer.concat([
  messageOf('R', 0),
  messageOf('S', 'server_version', '17.4'),
  messageOf('S', 'client_encoding', 'UTF8'),
  messageOf('K', 1, 1),
  Buffer.from([...messageOf('Z').subarray(0, 4), 5, 'I'.charCodeAt(0)]),
])

const [port, folder] = process.argv.slice(2)
const extensions = process.env.WITHOUT_VECTOR === undefined ? { vector } : {}
const database = await PGlite.create(String(folder), { extensions })
const listening = new Set<Socket>()
/** Whose turn it is, and whose come after. */
let turn: Promise<void> = Promise.resolve()

function serve(socket: Socket): void {
  socket.setNoDelay(true)
  let isStarted = false
  let received: Buffer = Buffer.alloc(0)
  let group: Buffer[] = []
  let asked: Promise<void> = Promise.resolve()
  /** Gives the session back. Set while this connection has it. */
  let giveBack: (() => void) | undefined

  async function run(request: Buffer): Promise<void> {
    if (giveBack === undefined) {
      const before = turn
      const mine = Promise.withResolvers<void>()
      turn = mine.promise
      giveBack = mine.resolve
      await before
    }
    const answer = Buffer.from(await database.execProtocolRaw(request))
    let isIdle = true
    for (const { type, bytes } of takeMessages(answer).messages) {
      if (type === 'Z') isIdle = bytes.at(-1) === 'I'.charCodeAt(0)
      if (type !== 'A') socket.write(bytes)
      else for (const other of listening) other.write(bytes)
    }
    if (isIdle) release()
  }

  function release(): void {
    giveBack?.()
    giveBack = undefined
  }

  function start(): void {
    if (received.length < SSL_REQUEST_BYTES) return
    const length = received.readUInt32BE(0)
    if (received.length < length) return
    received = received.subarray(length)
    if (length === SSL_REQUEST_BYTES) return void socket.write('N')
    isStarted = true
    socket.write(READY)
  }

  socket.on('error', () => {})
  socket.on('close', () => {
    listening.delete(socket)
    void asked.then(() => giveBack && database.exec('rollback')).then(release)
  })
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, Buffer.from(bytes)])
    if (!isStarted) return start()
    const { messages, rest } = takeMessages(received)
    received = rest
    for (const { type, bytes: message } of messages) {
      if (type === 'X') return void socket.end()
      if (type === 'Q' && /^listen /i.test(message.toString('utf8', 5))) listening.add(socket)
      group.push(message)
      if (type !== 'Q' && type !== 'S') continue
      const request = Buffer.concat(group)
      group = []
      asked = asked.then(() => run(request))
    }
  })
}

createServer(serve).listen(Number(port), '127.0.0.1')
