/** The thread that has the graphs: building and searching them holds up nobody else. */
import { parentPort, workerData } from 'node:worker_threads'
import { FOLDED } from './fold.ts'
import { Graph } from './graph.ts'
import { GraphFiles } from './graph-files.ts'
import type { FromGraphs, GraphStart, ToGraphs } from './protocol.ts'

/** A graph is written when nothing was added to it for so long. */
const WRITE_AFTER_MS = 5000

const port = parentPort
if (port === null) throw new Error('This file runs as a worker thread.')
// Safe: the engine alone starts this thread.
const { folder } = workerData as GraphStart
const tell = (message: FromGraphs): void => port.postMessage(message)
const files = folder === undefined ? undefined : new GraphFiles(folder)
const graphs = new Map<string, Graph>()
const writing = new Map<string, NodeJS.Timeout>()

const hnswlib = await import('hnswlib-node').catch((error: unknown) => {
  tell({ kind: 'missing', reason: String(error) })
  return process.exit()
})
const { HierarchicalNSW } = hnswlib.default

async function graphOf(scope: string): Promise<Graph> {
  const known = graphs.get(scope)
  if (known !== undefined) return known
  const read = new HierarchicalNSW('cosine', FOLDED)
  const deleted = await files?.read(scope, read)
  const graph = deleted ? new Graph(read, deleted) : new Graph(new HierarchicalNSW('cosine', FOLDED))
  graphs.set(scope, graph)
  return graph
}

async function write(scope: string): Promise<void> {
  const graph = graphs.get(scope)
  clearTimeout(writing.get(scope))
  if (!writing.delete(scope) || graph === undefined) return
  // Without the file it is built anew; a full disk must not end the thread.
  await files?.write(scope, graph.hnsw, graph.deleted).catch(() => {})
}

function writeLater(scope: string): void {
  clearTimeout(writing.get(scope))
  writing.set(
    scope,
    setTimeout(() => enqueue(() => write(scope)), WRITE_AFTER_MS),
  )
}

async function handle(message: ToGraphs): Promise<void> {
  switch (message.kind) {
    case 'add': {
      const graph = await graphOf(message.scope)
      for (const [i, label] of message.labels.entries()) {
        graph.add(label, [...message.vectors.subarray(i * FOLDED, (i + 1) * FOLDED)])
      }
      writeLater(message.scope)
      return tell({ kind: 'added', scope: message.scope, count: message.labels.length })
    }
    case 'remove': {
      const graph = await graphOf(message.scope)
      graph.remove(message.label)
      writeLater(message.scope)
      if (!graph.isWorn) return
      graphs.set(message.scope, new Graph(new HierarchicalNSW('cosine', FOLDED)))
      return tell({ kind: 'worn', scope: message.scope })
    }
    case 'search': {
      const graph = await graphOf(message.scope)
      return tell({ kind: 'found', id: message.id, labels: graph.search(message.vector) })
    }
    case 'drop':
      await write(message.scope)
      graphs.delete(message.scope)
      return
    case 'close':
      for (const scope of [...writing.keys()]) await write(scope)
      port?.close()
  }
}

/** One after another: reading and writing files takes turns with the rest. */
let last: Promise<void> = Promise.resolve()
function enqueue(work: () => Promise<void>): void {
  last = last.then(work)
}

port.on('message', (message: ToGraphs) => enqueue(() => handle(message)))
tell({ kind: 'ready' })
