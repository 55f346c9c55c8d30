/** The thread that runs a sentence model: a text takes milliseconds, for which the gateway must not stand still. */
import { parentPort, workerData } from 'node:worker_threads'
import type { FromModel, ModelStart, ToModel } from './protocol.ts'

const port = parentPort
if (port === null) throw new Error('This file runs as a worker thread.')
const tell = (message: FromModel, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved)
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
/** Says how fast the model is before the first question comes; of the usual length of one. */
const REHEARSAL = 'How long does it take until the first question of the day has found an answer here?'
const REHEARSALS = 3

try {
  const { loadModel } = await import('./model.ts')
  // The cast is safe: the embedder alone starts this thread.
  const embed = await loadModel(workerData as ModelStart)
  const { length: dimensions } = await embed(REHEARSAL)
  const startedMs = performance.now()
  for (let i = 0; i < REHEARSALS; i++) await embed(REHEARSAL)
  const msPerCharacter = (performance.now() - startedMs) / REHEARSALS / REHEARSAL.length
  port.on('message', async ({ text }: ToModel) => {
    try {
      const vector = await embed(text)
      tell({ kind: 'vector', vector }, [vector.buffer])
    } catch (error) {
      tell({ kind: 'fault', message: messageOf(error) })
    }
  })
  tell({ kind: 'ready', dimensions, msPerCharacter })
} catch (error) {
  tell({ kind: 'failed', message: messageOf(error) })
}
