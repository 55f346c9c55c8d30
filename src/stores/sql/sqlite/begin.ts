import type { DatabaseSync } from 'node:sqlite'
import { SQLITE_BUSY, sqliteCodeOf } from '../engine/faults.ts'
import { monotonicMs } from './monotonic.ts'

/** Shorter than any commit, so that a waiting process is not starved by others. */
const RETRY_MS = 1
const asleep = new Int32Array(new SharedArrayBuffer(4))

/**
 * Begins a write transaction as soon as no other process has one. SQLite's own wait ends up retrying ten times a second,
 * and under load others then go first for seconds. Blocks the thread while it waits. Throws SQLite's error after
 * `deadlineMs`, a time of `monotonicMs`.
 */
export function beginWrite(database: DatabaseSync, deadlineMs: number): void {
  for (;;) {
    try {
      database.exec('begin immediate')
      return
    } catch (error) {
      if (sqliteCodeOf(error) !== SQLITE_BUSY || monotonicMs() > deadlineMs) throw error
      Atomics.wait(asleep, 0, 0, RETRY_MS)
    }
  }
}
