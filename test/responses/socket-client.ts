import { once } from 'node:events'
import { WebSocket } from 'ws'
import { type JsonObject, valueAt } from '../support/json.ts'

const LAST = /^(?:error|response\.(?:completed|incomplete|failed))$/

/** A client's WebSocket. */
export interface Client extends AsyncDisposable {
  readonly socket: WebSocket
  /** Sends a message and resolves with the events up to the last one of its response, or an error. */
  ask(body: JsonObject): Promise<JsonObject[]>
  send(message: JsonObject | string | Buffer): void
  /** Resolves with the events up to the next last one. */
  answer(): Promise<JsonObject[]>
  /** Resolves with the code when the socket has closed. */
  readonly closed: Promise<number>
}

/** A refused handshake. */
export interface Refused {
  readonly status: number
  readonly body: string
}

/** Opens a WebSocket to a gateway; resolves with the refusal where the gateway refuses the handshake. */
export async function connect(url: string, headers: Record<string, string>): Promise<Client | Refused> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: 'Bearer socket-client', ...headers },
  })
  const { promise: refused, resolve } = Promise.withResolvers<Refused>()
  socket.once('unexpected-response', (_, response) => {
    let body = ''
    response.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    response.once('end', () => resolve({ status: response.statusCode ?? 0, body }))
  })
  const first = await Promise.race([once(socket, 'open').then(() => undefined), refused])
  return first ?? clientOf(socket)
}

/** Opens a WebSocket that must not be refused. */
export async function open(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = await connect(url, headers)
  if ('status' in client) throw new Error(`Expected a socket, got ${client.status}: ${client.body}`)
  return client
}

function clientOf(socket: WebSocket): Client {
  const answers: JsonObject[][] = []
  const readers: ((events: JsonObject[]) => void)[] = []
  let events: JsonObject[] = []
  socket.on('message', (data) => {
    const event = JSON.parse(String(data)) as JsonObject // safe: the test fails otherwise
    events.push(event)
    if (!LAST.test(String(event.type))) return
    const reader = readers.shift()
    if (reader === undefined) answers.push(events)
    else reader(events)
    events = []
  })
  const closed = once(socket, 'close').then(([code]) => Number(code))
  const answer = async () => {
    const known = answers.shift()
    if (known !== undefined) return known
    const { promise, resolve } = Promise.withResolvers<JsonObject[]>()
    readers.push(resolve)
    const ended = closed.then((code) => {
      throw new Error(`The socket closed with ${code} before its answer`)
    })
    return Promise.race([promise, ended])
  }
  const send = (message: JsonObject | string | Buffer) =>
    socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message))
  return {
    socket,
    send,
    answer,
    ask(body) {
      send({ type: 'response.create', ...body })
      return answer()
    },
    closed,
    async [Symbol.asyncDispose]() {
      socket.terminate()
      await closed
    },
  }
}

/** Returns the response of the last event. */
export function responseOf(events: readonly JsonObject[]): JsonObject {
  const response = valueAt(events.at(-1), 'response')
  if (typeof response !== 'object' || response === null)
    throw new Error(`No response in ${JSON.stringify(events.at(-1))}`)
  return response as JsonObject // safe: checked above
}
