/** The thread that has the file of answers: waiting for the disk stops it, and not the gateway. */
import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { FromThread, ToThread } from 'turnpike/plugin/thread'
import { AnswerDatabase } from './database.ts'
import type { Batch, BatchAnswer, FileAnswer, FileStart, OperationName } from './protocol.ts'

/** SQLite's codes for a file that is not what it should be. */
const SQLITE_CORRUPT = 11
const SQLITE_NOT_A_DATABASE = 26
const PRIMARY_CODE = 0xff
/** These need not wait for a writer. */
const READING: ReadonlySet<OperationName> = new Set(['get', 'list'])

const port = parentPort
if (port === null) throw new Error('This file runs as a worker thread.')
// Safe: the engine alone starts this thread.
const { file, maxBytes } = workerData as FileStart
const tell = (message: FromThread<BatchAnswer>): void => port.postMessage(message)

let setAsideLast: string | undefined
mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
let opened = openSound()

/** Opens the file; a damaged one is set aside, and a new one begun. */
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
  // Safe: node:sqlite puts the code there.
  const code = ((error as { errcode?: number }).errcode ?? 0) & PRIMARY_CODE
  return code === SQLITE_CORRUPT || code === SQLITE_NOT_A_DATABASE
}

/** One is kept for who wants to look at it, in the place of the one before. */
function setAside(): string {
  const aside = `${file}.damaged`
  renameSync(file, aside)
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
  return aside
}

/** Another process may have set it aside already: then what is there now is sound. */
function replaceDamaged(): void {
  opened.database.close()
  const isSame = statSync(file, { throwIfNoEntry: false })?.ino === opened.inode
  if (isSame) setAsideLast = setAside()
  opened = openSound()
}

function answersTo(asked: Batch): FileAnswer[] {
  try {
    const { database } = opened
    // Safe: the other side lets a name be asked with its own input only.
    const answers = () => asked.map(({ name, input }) => ({ output: database[name](input as never) }))
    return asked.every(({ name }) => READING.has(name)) ? answers() : database.transact(answers)
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    if (isDamage(error)) replaceDamaged()
    return asked.map(() => ({ fault }))
  }
}

/** What was set aside since it was last told. */
function takeSetAside(): string | undefined {
  const aside = setAsideLast
  setAsideLast = undefined
  return aside
}

port.on('message', (message: ToThread<Batch>) => {
  if (message.kind === 'ask') {
    const answers = answersTo(message.question)
    return tell({ kind: 'answer', answer: { answers, setAside: takeSetAside() } })
  }
  opened.database.close()
  port.close()
})
tell({ kind: 'ready' })
