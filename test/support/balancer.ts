import { Agent, createServer, type IncomingMessage, type ServerResponse, request as startRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/*
 * DESIGN. A plain load balancer: each request goes to the next backend, over kept connections; it probes `/ready` of each
 * backend all the time, and sends nothing to one that did not answer 200. It retries nothing: a request that a backend
 * refuses or breaks is a 502, so that no fault of a gateway is hidden.
 *
 *   client ──► balancer ──┬─ kept connections ─► gateway 1 ◄─ /ready: 200
 *                         └─ kept connections ─► gateway 2 ◄─ /ready: 503, left out
 */

/** Interval of the probes; a backend may close its port this much later than it has reported it. */
const PROBE_MS = 100

/** A running balancer. */
export interface Balancer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Adds a backend, which gets requests as soon as it is ready. */
  add(origin: string): void
  remove(origin: string): void
  /** Requests that each backend was sent. */
  readonly sent: ReadonlyMap<string, number>
  /** Requests that it could not deliver, in words. */
  readonly failures: readonly string[]
  /** Resolves when so many backends are ready. */
  ready(count: number): Promise<void>
  close(): Promise<void>
}

interface Backend {
  readonly origin: string
  readonly agent: Agent
  readonly probing: AbortController
  isReady: boolean
}

/** Starts a balancer with no backend on a free port of loopback. */
export async function startBalancer(): Promise<Balancer> {
  const backends: Backend[] = []
  const sent = new Map<string, number>()
  const failures: string[] = []
  let turn = 0
  const next = (): Backend | undefined => {
    const ready = backends.filter(({ isReady }) => isReady)
    return ready[turn++ % ready.length]
  }
  const server = createServer((request, response) => {
    const backend = next()
    if (backend === undefined) return refuse(response, failures, 'no backend is ready')
    sent.set(backend.origin, (sent.get(backend.origin) ?? 0) + 1)
    pass({ request, response, backend }, failures)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // safe: it listens on TCP
  const remove = (origin: string) => {
    const index = backends.findIndex((backend) => backend.origin === origin)
    for (const { agent, probing } of index < 0 ? [] : backends.splice(index, 1)) {
      probing.abort()
      agent.destroy()
    }
  }
  const close = async () => {
    for (const { origin } of [...backends]) remove(origin)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    sent,
    failures,
    add(origin) {
      const backend = { origin, agent: new Agent({ keepAlive: true }), probing: new AbortController(), isReady: false }
      backends.push(backend)
      void probe(backend)
    },
    remove,
    async ready(count) {
      const deadline = AbortSignal.timeout(30_000)
      while (backends.filter(({ isReady }) => isReady).length < count)
        await sleep(PROBE_MS / 4, undefined, { signal: deadline })
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Probes a backend until it is removed. */
async function probe(backend: Backend): Promise<void> {
  const { signal } = backend.probing
  while (!signal.aborted) {
    backend.isReady = await fetch(`${backend.origin}/ready`, { signal, headers: { connection: 'close' } }).then(
      (reply) => reply.ok,
      () => false,
    )
    await sleep(PROBE_MS, undefined, { signal }).catch(() => {})
  }
}

interface Passage {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly backend: Backend
}

/** Passes a request on, and the reply back as it arrives, cut where it is cut. */
function pass({ request, response, backend }: Passage, failures: string[]): void {
  const { method, url: path = '/', rawHeaders } = request
  const headers = withoutConnection(rawHeaders)
  const target = startRequest(backend.origin, { method, path, headers, agent: backend.agent })
  target.on('response', (reply) => {
    response.writeHead(reply.statusCode ?? 502, withoutConnection(reply.rawHeaders))
    response.flushHeaders()
    reply.pipe(response)
    reply.once('close', () => reply.complete || response.destroy())
  })
  target.on('error', (error: NodeJS.ErrnoException) => {
    if (response.destroyed || response.headersSent) return void response.destroy()
    refuse(response, failures, `${backend.origin} ${method} ${path}: ${error.code ?? error.message}`)
  })
  response.once('close', () => response.writableFinished || target.destroy())
  request.pipe(target)
}

function refuse(response: ServerResponse, failures: string[], reason: string): void {
  failures.push(reason)
  response.writeHead(502, { 'content-type': 'text/plain' }).end(reason)
}

/** Removes the headers of one connection, which must not reach the other. */
function withoutConnection(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => {
    const name = rawHeaders[index - (index % 2)]?.toLowerCase()
    return name !== 'connection' && name !== 'keep-alive'
  })
}
