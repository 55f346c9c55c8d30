/** The thread that runs a sentence model: a text takes milliseconds, for which the gateway must not stand still. */
import { parentPort, workerData } from 'node:worker_threads'
import type { FromModel, ModelStart, ToModel } from './protocol.ts'

const port = parentPort
if (port === null) throw new Error('This file runs as a worker thread.')
const tell = (message: FromModel, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved)
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
/** A first text, which tells how long vectors are. */
const REHEARSAL = 'How long does it take until the first question of the day has found an answer here?'

try {
  const { loadModel } = await import('./model.ts')
  // The cast is safe: the embedder alone starts this thread.
  const embed = await loadModel(workerData as ModelStart)
  const { length: dimensions } = await embed(REHEARSAL)
  port.on('message', async ({ text }: ToModel) => {
    try {
      const vector = await embed(text)
      tell({ kind: 'vector', vector }, [vector.buffer])
    } catch (error) {
      tell({ kind: 'fault', message: messageOf(error) })
    }
  })
  tell({ kind: 'ready', dimensions })
} catch (error) {
  tell({ kind: 'failed', message: messageOf(error) })
}
