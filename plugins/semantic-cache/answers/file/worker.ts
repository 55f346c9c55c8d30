/** Thread that owns the file of answers: waiting for the disk blocks it, not the gateway. */
import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { FromThread, ToThread } from 'turnpike/plugin/thread'
import { AnswerDatabase } from './database.ts'
import type { Batch, BatchAnswer, FileAnswer, FileStart, OperationName } from './protocol.ts'

/** SQLite's codes of a damaged file. */
const SQLITE_CORRUPT = 11
const SQLITE_NOT_A_DATABASE = 26
const PRIMARY_CODE = 0xff
/** Operations that need no transaction. */
const READING: ReadonlySet<OperationName> = new Set(['get', 'list'])

const port = parentPort
if (port === null) throw new Error('This file runs as a worker thread.')
// Safe: only the engine starts this thread.
const { file, maxBytes } = workerData as FileStart
const send = (message: FromThread<BatchAnswer>): void => port.postMessage(message)

let setAsideLast: string | undefined
mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
let opened = openSound()

/** Opens the file; sets a damaged one aside, and creates a new one. */
function openSound(): { database: AnswerDatabase; inode: number } {
  try {
    return { database: new AnswerDatabase(file, maxBytes), inode: statSync(file).ino }
  } catch (error) {
    if (!isDamage(error)) throw error
    setAsideLast = setAside()
    return { database: new AnswerDatabase(file, maxBytes), inode: statSync(file).ino }
  }
}

function isDamage(error: unknown): boolean {
  // Safe: node:sqlite sets the code there.
  const code = ((error as { errcode?: number }).errcode ?? 0) & PRIMARY_CODE
  return code === SQLITE_CORRUPT || code === SQLITE_NOT_A_DATABASE
}

/** Sets the file aside for inspection, replacing the former one. */
function setAside(): string {
  const aside = `${file}.damaged`
  renameSync(file, aside)
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
  return aside
}

/** Replaces a damaged file. Another process may have done so already: then the current one is intact. */
function replaceDamaged(): void {
  opened.database.close()
  const isSame = statSync(file, { throwIfNoEntry: false })?.ino === opened.inode
  if (isSame) setAsideLast = setAside()
  opened = openSound()
}

function answersTo(batch: Batch): FileAnswer[] {
  try {
    const { database } = opened
    // Safe: the other side pairs each name with its own input.
    const answers = () => batch.map(({ name, input }) => ({ output: database[name](input as never) }))
    return batch.every(({ name }) => READING.has(name)) ? answers() : database.transact(answers)
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    if (isDamage(error)) replaceDamaged()
    return batch.map(() => ({ fault }))
  }
}

/** Returns the file set aside since the last call. */
function takeSetAside(): string | undefined {
  const aside = setAsideLast
  setAsideLast = undefined
  return aside
}

port.on('message', (message: ToThread<Batch>) => {
  if (message.kind === 'ask') {
    const answers = answersTo(message.question)
    return send({ kind: 'answer', answer: { answers, setAside: takeSetAside() } })
  }
  opened.database.close()
  port.close()
})
send({ kind: 'ready' })
