import type { DatabaseSync } from 'node:sqlite'
import { SQLITE_BUSY, sqliteCodeOf } from '../engine/faults.ts'
import { monotonicMs } from './monotonic.ts'

/** Shorter than any commit: whoever asks seldom finds the database taken, again and again, by those who never left it. */
const RETRY_MS = 1
const asleep = new Int32Array(new SharedArrayBuffer(4))

/**
 * Begins a transaction that writes, as soon as no other process has one. SQLite's own wait asks ten times a second in
 * the end, and under load others then go first for seconds. Stops the thread while it waits. Throws SQLite's error after
 * `deadlineMs`, a moment of `monotonicMs`.
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
