import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { eventually } from './eventually.ts'

/** Longest wait for a delivery: a gateway's intervals, on a busy machine. */
const ARRIVES_WITHIN_MS = 20_000

/** A delivery as received. */
export interface Delivered {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An HTTP server that takes alerts. */
export interface Receiver {
  readonly url: string
  /** Deliveries that were taken, oldest first. */
  readonly taken: Delivered[]
  /** Deliveries that were refused. */
  readonly refused: Delivered[]
  /** Returns the status of the reply to a delivery. Default: 200. */
  statusOf: (delivery: Delivered) => number
  /** Resolves with the first delivery taken at a path whose body contains a text. */
  until(path: string, text: string): Promise<Delivered>
  close(): Promise<void>
}

/** Starts a receiver on a free loopback port. */
export async function startReceiver(): Promise<Receiver> {
  const [taken, refused]: [Delivered[], Delivered[]] = [[], []]
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const delivery = { path: request.url ?? '', headers: request.headers, body }
    const status = receiver.statusOf(delivery)
    const list = status < 300 ? taken : refused
    list.push(delivery)
    response.writeHead(status, { location: '/elsewhere' }).end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}`,
    taken,
    refused,
    statusOf: () => 200,
    async until(path, text) {
      const find = () => taken.find((one) => one.path === path && one.body.includes(text))
      await eventually(() => find() !== undefined, `a delivery to ${path} with “${text}”`, ARRIVES_WITHIN_MS)
      return find() as Delivered // safe: it was found
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
  return receiver
}

/** A mail server that keeps what it takes. */
export interface MailServer {
  readonly url: string
  readonly mails: { readonly to: readonly string[]; readonly text: string }[]
  close(): Promise<void>
}

/** Starts a mail server on a free loopback port, which asks for a user and a password, without TLS. */
export async function startMailServer({ user, password }: { user: string; password: string }): Promise<MailServer> {
  const mails: MailServer['mails'][number][] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (auth, _session, done) =>
      auth.username === user && auth.password === password ? done(null, { user }) : done(new Error('wrong password')),
    onData(stream, session, done) {
      let text = ''
      stream.on('data', (chunk: Buffer) => {
        text += chunk
      })
      stream.on('end', () => {
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://${user}:${password}@127.0.0.1:${port}`,
    mails,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}
