import { sql } from 'kysely'
import { type CommandName, commands } from '../commands.ts'
import { type Command, type Moment, Undo } from '../engine/command.ts'
import { type Fault, sqliteFault, unavailable } from '../engine/faults.ts'
import { beginWrite } from './begin.ts'
import { monotonicMs } from './monotonic.ts'
import type { OpenDatabase } from './open.ts'

/** Commands that are committed together. */
export interface Group {
  readonly commands: readonly { readonly name: CommandName; readonly input: unknown }[]
  /** The gateway's clock. */
  readonly nowMs: number
  /** Time of `monotonicMs` after which nothing is committed: the callers have timed out. */
  readonly deadlineMs: number
}

/** Outcome of one command. */
export type Outcome = { readonly output: unknown } | { readonly fault: Fault }

/**
 * Runs commands one after another in one transaction, so that they share the wait for the disk; each inside a savepoint,
 * so that a failure does not undo the others. SQLite copies each changed page for a savepoint, so a command alone
 * has none: its failure undoes the transaction. Returns after the commit. Throws when none of them happened.
 */
export async function runGroup({ raw, db, setNow }: OpenDatabase, group: Group): Promise<Outcome[]> {
  beginWrite(raw, group.deadlineMs)
  try {
    setNow(group.nowMs)
    const outcomes: Outcome[] = []
    const isAlone = group.commands.length === 1
    for (const command of group.commands) outcomes.push(await runOne({ raw, db, isAlone }, command))
    if (monotonicMs() > group.deadlineMs) throw unavailable('The database did not answer in time.')
    if (raw.isTransaction) raw.exec('commit')
    return outcomes
  } catch (error) {
    // A full disk has rolled back the transaction already.
    if (raw.isTransaction) raw.exec('rollback')
    throw error
  }
}

const NOW: Moment = sql`now_ms()`

async function runOne(
  { raw, db, isAlone }: Pick<OpenDatabase, 'raw' | 'db'> & { readonly isAlone: boolean },
  { name, input }: Group['commands'][number],
): Promise<Outcome> {
  // The cast is safe: `SqlStore.run` lets a name be called with its own input only.
  const command = commands[name] as Command<unknown, unknown>
  if (!isAlone) raw.exec('savepoint command')
  try {
    const output = await command(db, input, NOW)
    if (!isAlone) raw.exec('release command')
    return { output }
  } catch (error) {
    // Then the fault has ended the whole transaction, with the commands before.
    if (!raw.isTransaction) throw error
    raw.exec(isAlone ? 'rollback' : 'rollback to command; release command')
    if (error instanceof Undo) return { output: error.output }
    return { fault: sqliteFault(error) }
  }
}
