import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** Owner that closes the relay. */
interface Owner {
  teardown(end: () => unknown): void
}

/** Counts of what a service has sent. */
export interface RelayCounts {
  /** Pieces of bytes: about one for each round trip of a client that does not pipeline. */
  pieces: number
  /** Completed statements and round trips of PostgreSQL. */
  statements: number
  trips: number
}

/** Message types (PostgreSQL manual, "Message Formats"). */
const COMMAND_COMPLETE = 'C'.charCodeAt(0)
const READY_FOR_QUERY = 'Z'.charCodeAt(0)
const HEAD_BYTES = 5

/** Starts a relay to a PostgreSQL or a Redis; returns the address to use instead, and counts. */
export async function startCountingRelay(owner: Owner, address: string): Promise<{ url: string; counts: RelayCounts }> {
  const target = new URL(address)
  const counts: RelayCounts = { pieces: 0, statements: 0, trips: 0 }
  const server = createServer((client) => {
    let rest: Buffer = Buffer.alloc(0)
    const service = connect(Number(target.port), target.hostname)
    service.on('data', (piece: Buffer) => {
      counts.pieces++
      if (target.protocol.startsWith('postgres')) rest = countMessages(Buffer.concat([rest, piece]), counts)
    })
    client.pipe(service).pipe(client)
    for (const socket of [client, service])
      socket
        .on('error', () => {})
        .on('close', () => {
          client.destroy()
          service.destroy()
        })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  owner.teardown(() => server.close())
  const url = new URL(target)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}` // safe: it listens on a port
  return { url: url.href, counts }
}

/** Counts whole messages of PostgreSQL; returns the bytes of an incomplete one. */
function countMessages(bytes: Buffer, counts: RelayCounts): Buffer {
  let at = 0
  while (bytes.length - at >= HEAD_BYTES) {
    const end = at + 1 + bytes.readUInt32BE(at + 1)
    if (end > bytes.length) break
    if (bytes[at] === COMMAND_COMPLETE) counts.statements++
    if (bytes[at] === READY_FOR_QUERY) counts.trips++
    at = end
  }
  return bytes.subarray(at)
}
