import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'

/*
 * DESIGN. Loaded into a gateway before anything else (`--import`): the threads that write to databases wait at each
 * commit, as they would for a disk that is slow, for the number of milliseconds in a file that the test writes; `hang`: as
 * long as the file has it.
 */

const FILE = process.env.TURNPIKE_DISK
const LOOK_EVERY_MS = 20
const asleep = new Int32Array(new SharedArrayBuffer(4))

function told(): string {
  return FILE === undefined ? '' : readFileSync(FILE, 'utf8')
}

function waitForDisk(): void {
  Atomics.wait(asleep, 0, 0, Number.parseInt(told(), 10) || 0)
  while (told() === 'hang') Atomics.wait(asleep, 0, 0, LOOK_EVERY_MS)
}

if (!isMainThread) {
  const exec = DatabaseSync.prototype.exec
  DatabaseSync.prototype.exec = function (sql) {
    if (sql === 'commit') waitForDisk()
    exec.call(this, sql)
  }
}
