/**
 * The thread with the SQLite database: waiting for the disk blocks it, and not the gateway. It handles one message
 * after another, in their order.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { releaseMemoryAtRest } from '../../../core/system/rest.ts'
import { FILE_LOST, sqliteFault, unavailable } from '../engine/faults.ts'
import { FilePlace } from './file-place.ts'
import { type Group, type Outcome, runGroup } from './group.ts'
import { type OpenDatabase, openDatabase } from './open.ts'
import type { FromWorker, ToWorker, WorkerStart } from './protocol.ts'

/** Less than the event loop's: no client waits for this thread's optimised code. */
const LEAST_WORK_MS = 2000

const port = parentPort
if (port === null) throw new Error('This file runs as a worker thread.')
// The cast is safe: the engine alone starts this thread.
const { file, tables } = workerData as WorkerStart
const post = (message: FromWorker): void => port.postMessage(message)

async function outcomesOf(database: OpenDatabase, group: Group, place: FilePlace): Promise<Outcome[]> {
  try {
    if (!place.isKept()) throw unavailable(FILE_LOST)
    return await runGroup(database, group)
  } catch (error) {
    const fault = sqliteFault(error)
    return group.commands.map(() => ({ fault }))
  }
}

try {
  const database = await openDatabase(file, tables)
  const place = new FilePlace(file)
  port.on('message', async (message: ToWorker) => {
    if (message.kind === 'ask')
      return post({ kind: 'answer', answer: await outcomesOf(database, message.question, place) })
    await database.db.destroy()
    port.close()
  })
  post({ kind: 'ready' })
  releaseMemoryAtRest({ workedMs: LEAST_WORK_MS })
} catch (error) {
  post({ kind: 'failed', fault: sqliteFault(error) })
}
