import { connect } from 'node:net'

/** Texts that are awaited are no longer than this, so that only the end of what came has to be searched. */
const LONGEST_AWAITED = 200

/** A TCP connection on which a test writes HTTP by hand, as slowly and as wrongly as it likes. */
export interface RawClient {
  /** Hands bytes to the kernel. */
  write(text: string | Buffer): void
  /** All that came so far. */
  received(): string
  receivedBytes(): number
  /** Resolves once what came contains `text`; rejects when the connection closes before. */
  until(text: string): Promise<void>
  /** Resolves with all that came when the connection is closed, by whichever side. */
  closed: Promise<string>
  /** Stops reading, so that the sender is held back; `resume` goes on. */
  pause(): void
  resume(): void
  /** Leaves without a farewell. */
  destroy(): void
}

/** Connects to a port of this machine. Rejects when nobody listens there. */
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
  socket.on('error', () => {}) // a reset is an observation; `closed` tells
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
