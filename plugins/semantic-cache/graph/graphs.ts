import { Worker } from 'node:worker_threads'
import type { Log } from 'turnpike/plugin'
import { fold } from './fold.ts'
import type { FromGraphs, GraphStart, ToGraphs } from './protocol.ts'

const WORKER = new URL('./worker.ts', import.meta.url)
const RESTART_AFTER_MS = 500
const STOP_WITHIN_MS = 10_000
const SEARCH_WITHIN_MS = 50
/** More that is yet to be added would hold up a search. */
const MOST_UNFINISHED = 200
const SENT_AT_ONCE = 100

/** What a scope does when its graph is gone. */
export interface GraphOwner {
  /** Gives all labels and vectors again. */
  feed(): void
}

/** The graph of one scope. */
export interface ScopeGraph {
  /** Whether a search would be answered at once, from all that was added. */
  readonly isReady: boolean
  add(label: number, vector: Int8Array): void
  remove(label: number): void
  /** Labels of candidates, most likely first. Rejects when there is no answer in time. */
  search(vector: Int8Array): Promise<readonly number[]>
  /** Gives up its memory. */
  drop(): void
}

/** Opens the graphs of scopes. */
export interface ScopeGraphs {
  /** The graph of a scope, empty or as it was written; `owner` feeds it. */
  open(scope: string, owner: GraphOwner): ScopeGraph
  /** Lets what is not written be written. */
  close(): Promise<void>
}

interface Open {
  readonly owner: GraphOwner
  /** What is yet to be sent: labels, and the components of their folded vectors. */
  labels: number[]
  components: number[]
  unfinished: number
}

/** The thread of graphs, started when the first scope needs one; one that dies is started anew, and fed again. */
export class Graphs implements ScopeGraphs {
  readonly #start: GraphStart
  readonly #log: Log
  readonly #open = new Map<string, Open>()
  readonly #searches = new Map<number, PromiseWithResolvers<readonly number[]>>()
  #worker: Worker | undefined
  #isReady = false
  /** hnswlib is not installed. */
  #isMissing = false
  #isClosed = false
  #restart: NodeJS.Timeout | undefined
  #searchCount = 0

  constructor(start: GraphStart, log: Log) {
    this.#start = start
    this.#log = log
  }

  /** The graph of a scope, empty or as it was written; `owner` feeds it. */
  open(scope: string, owner: GraphOwner): ScopeGraph {
    if (this.#worker === undefined && !this.#isMissing && !this.#isClosed) this.#startWorker()
    const open: Open = { owner, labels: [], components: [], unfinished: 0 }
    this.#open.set(scope, open)
    const isReady = () => this.#isReady && open.unfinished <= MOST_UNFINISHED
    return {
      get isReady() {
        return isReady()
      },
      add: (label, vector) => this.#add(scope, open, { label, vector }),
      remove: (label) => {
        this.#flush(scope, open)
        this.#send({ kind: 'remove', scope, label })
      },
      search: (vector) => {
        this.#flush(scope, open)
        return this.#search(scope, vector)
      },
      drop: () => {
        if (this.#open.get(scope) !== open) return
        this.#open.delete(scope)
        this.#send({ kind: 'drop', scope })
      },
    }
  }

  /** Lets the thread write what is not written, and ends it if it does not. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === undefined) return
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    worker.once('exit', () => resolve())
    worker.ref()
    this.#send({ kind: 'close' })
    const timer = setTimeout(() => void worker.terminate(), STOP_WITHIN_MS)
    await ended
    clearTimeout(timer)
  }

  #add(scope: string, open: Open, { label, vector }: { label: number; vector: Int8Array }): void {
    open.labels.push(label)
    open.components.push(...fold(vector))
    open.unfinished++
    if (open.labels.length === SENT_AT_ONCE) this.#flush(scope, open)
    if (open.labels.length === 1) setImmediate(() => this.#flush(scope, open))
  }

  #flush(scope: string, open: Open): void {
    const { labels, components } = open
    if (labels.length === 0 || this.#open.get(scope) !== open) return
    open.labels = []
    open.components = []
    this.#send({ kind: 'add', scope, labels, vectors: Int16Array.from(components) })
  }

  async #search(scope: string, vector: Int8Array): Promise<readonly number[]> {
    const id = this.#searchCount++
    const found = Promise.withResolvers<readonly number[]>()
    this.#searches.set(id, found)
    this.#send({ kind: 'search', scope, id, vector: fold(vector) })
    const timer = setTimeout(() => found.reject(new Error('the graph did not answer in time')), SEARCH_WITHIN_MS)
    try {
      return await found.promise
    } finally {
      clearTimeout(timer)
      this.#searches.delete(id)
    }
  }

  #send(message: ToGraphs): void {
    this.#worker?.postMessage(message)
  }

  #startWorker(): void {
    const worker = new Worker(WORKER, { workerData: this.#start })
    this.#worker = worker
    worker.on('message', (message: FromGraphs) => this.#hear(message))
    worker.on('error', (error) => this.#log.error({ reason: String(error) }, 'graph.thread-failed'))
    worker.once('exit', () => this.#lose())
    worker.unref()
  }

  #hear(message: FromGraphs): void {
    switch (message.kind) {
      case 'ready':
        this.#isReady = true
        break
      case 'missing':
        this.#isMissing = true
        this.#log.warn({ reason: message.reason }, 'graph.missing')
        break
      case 'added': {
        const open = this.#open.get(message.scope)
        if (open !== undefined) open.unfinished -= message.count
        break
      }
      case 'found':
        this.#searches.get(message.id)?.resolve(message.labels)
        break
      case 'worn':
        this.#open.get(message.scope)?.owner.feed()
    }
  }

  #lose(): void {
    this.#worker = undefined
    this.#isReady = false
    for (const search of this.#searches.values()) search.reject(new Error('the thread of graphs has ended'))
    if (this.#isClosed || this.#isMissing) return
    this.#log.error({}, 'graph.thread-ended')
    this.#restart = setTimeout(() => {
      this.#startWorker()
      for (const open of this.#open.values()) {
        open.labels = []
        open.components = []
        open.unfinished = 0
        open.owner.feed()
      }
    }, RESTART_AFTER_MS).unref()
  }
}
