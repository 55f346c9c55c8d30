import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE_MS } from './patience.ts'

const POLL_MS = 20

/**
 * Polls until `condition` holds, where no event reports it: another process's log, its files, its memory.
 * Rejects after `waitMs` with the condition's name.
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string,
  waitMs = PATIENCE_MS,
): Promise<void> {
  const deadlineMs = performance.now() + waitMs
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`Expected within ${waitMs} ms: ${what}`)
    await sleep(POLL_MS)
  }
}
