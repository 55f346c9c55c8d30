/** Thread of searches: one takes up to a quarter of a second, which must not block the event loop. */
import { parentPort } from 'node:worker_threads'
import type { FromThread, ToThread } from 'turnpike/plugin/thread'
import { threadCpuMs } from './cpu-budget.ts'
import { compile, Refusal } from './expression.ts'
import { matchesIn, tookTooMuch } from './matches.ts'
import type { Search, SearchResult } from './protocol.ts'

/** Most CPU of one search, in milliseconds. */
const LONGEST_MS = 250

const port = parentPort
if (port === null) throw new Error('This file runs as a worker thread.')

port.on('message', (message: ToThread<Search>) => {
  if (message.kind === 'close') return port.close()
  port.postMessage({ kind: 'answer', answer: resultOf(message.question) } satisfies FromThread<SearchResult>)
})
port.postMessage({ kind: 'ready' } satisfies FromThread<SearchResult>)

function resultOf({ texts, source }: Search): SearchResult {
  const begunMs = threadCpuMs()
  const cpuMs = () => threadCpuMs() - begunMs
  try {
    const matches = matchesIn(texts, compile(source), () => {
      if (cpuMs() > LONGEST_MS) throw tookTooMuch(source, `longer than ${LONGEST_MS} ms`)
    })
    return { kind: 'found', matches, cpuMs: cpuMs() }
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', message: error.message, cpuMs: cpuMs() }
    throw error
  }
}
