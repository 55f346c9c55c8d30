import { connect } from 'node:net'

/** Limit of awaited texts, so that only the end of the received bytes has to be searched. */
const LONGEST_AWAITED = 200

/** A TCP connection on which a test writes HTTP by hand, as slowly and as wrongly as it likes. */
export interface RawClient {
  /** Passes bytes to the kernel. */
  write(text: string | Buffer): void
  /** Returns all bytes received so far. */
  received(): string
  receivedBytes(): number
  /** Resolves once the received bytes contain `text`; rejects when the connection closes before. */
  until(text: string): Promise<void>
  /** Resolves with all received bytes when the connection is closed, by either side. */
  closed: Promise<string>
  /** Stops reading, so that back-pressure reaches the sender; `resume` continues. */
  pause(): void
  resume(): void
  /** Closes the connection at once. */
  destroy(): void
}

/** Connects to a port of this machine. Rejects when nothing listens there. */
export async function connectRaw(port: number): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const pieces: string[] = []
  let receivedBytes = 0
  let tail = ''
  const received = () => pieces.join('')
  const watchers = new Set<() => void>()
  const { promise: closed, resolve } = Promise.withResolvers<string>()
  socket.setEncoding('latin1')
  socket.on('data', (piece: string) => {
    pieces.push(piece)
    receivedBytes += piece.length
    tail = tail.slice(-LONGEST_AWAITED) + piece
    for (const watch of watchers) watch()
  })
  await new Promise<void>((connected, fail) => socket.once('connect', connected).once('error', fail))
  socket.on('error', () => {}) // a reset is a result, too; `closed` reports it
  socket.once('close', () => {
    resolve(received())
    for (const watch of watchers) watch()
  })
  return {
    write: (text) => void socket.write(text),
    received,
    receivedBytes: () => receivedBytes,
    until: (text) =>
      new Promise((found, fail) => {
        const watch = () => {
          if (tail.includes(text)) found()
          else if (socket.closed) fail(new Error(`Expected ${JSON.stringify(text)} before the end, got ${received()}`))
          else return
          watchers.delete(watch)
        }
        if (received().includes(text)) return found()
        watchers.add(watch)
        watch()
      }),
    closed,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    destroy: () => void socket.destroy(),
  }
}
