import cluster, { type Worker } from 'node:cluster'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Snapshot, Told } from './print.ts'

/**
 * DESIGN — metrics of several processes on one port
 *
 *   GET /metrics ─► any worker ──ask──► primary ──tell──► every worker
 *                       ▲                  ◄──told────────────┘
 *                       └──────all─────────┘
 *
 * A scrape reaches one worker by chance; it answers for all, each under a label of its own.
 */
type Message =
  | { readonly metrics: 'ask' | 'tell'; readonly id: string }
  | { readonly metrics: 'told'; readonly id: string; readonly told: Told }
  | { readonly metrics: 'all'; readonly id: string; readonly all: readonly Told[] }

/** A worker that hangs is left out: the others' values are wanted all the more then. */
const PATIENCE_MS = 1000

/** Gives the values of all processes. A process that is the only one gives its own. */
export function collector(snapshot: () => Snapshot): () => Promise<readonly Told[]> {
  const { worker } = cluster
  if (worker === undefined) return async () => [{ worker: undefined, snapshot: snapshot() }]
  const waiting = new Map<string, (all: readonly Told[]) => void>()
  const own = (): Told => ({ worker: String(worker.id), snapshot: snapshot() })
  process.on('message', (message: unknown) => {
    if (!isMessage(message)) return
    if (message.metrics === 'tell') send(process, { metrics: 'told', id: message.id, told: own() })
    if (message.metrics === 'all') waiting.get(message.id)?.(message.all)
  })
  return async function collect() {
    const id = randomUUID()
    const { promise, resolve } = Promise.withResolvers<readonly Told[]>()
    waiting.set(id, resolve)
    send(process, { metrics: 'ask', id })
    const all = await Promise.race([promise, sleep(2 * PATIENCE_MS, undefined, { ref: false })])
    waiting.delete(id)
    return all ?? [own()]
  }
}

/** In the primary: passes questions on, and the answers of all who answer in time back. */
export function passMetricsOn(): void {
  const gathering = new Map<string, (told: Told) => void>()
  cluster.on('message', (asker: Worker, message: unknown) => {
    if (!isMessage(message)) return
    if (message.metrics === 'told') gathering.get(message.id)?.(message.told)
    if (message.metrics === 'ask') void gather(message.id, asker)
  })
  const gather = async (id: string, asker: Worker): Promise<void> => {
    const asked = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isConnected() === true)
    const all: Told[] = []
    const { promise: complete, resolve } = Promise.withResolvers<void>()
    gathering.set(id, (told) => {
      all.push(told)
      if (all.length === asked.length) resolve()
    })
    for (const worker of asked) if (worker !== undefined) send(worker, { metrics: 'tell', id })
    await Promise.race([complete, sleep(PATIENCE_MS, undefined, { ref: false })])
    gathering.delete(id)
    if (asker.isConnected()) send(asker, { metrics: 'all', id, all })
  }
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'metrics' in message
}

/** One that has just gone cannot be told; nobody waits for it longer than the patience above. */
function send(to: { send?: Worker['send'] }, message: Message): void {
  to.send?.(message, () => {})
}
