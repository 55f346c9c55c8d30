import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import type { CommandInput, CommandName, CommandOutput } from '../../../src/stores/sql/commands.ts'
import type * as GroupModule from '../../../src/stores/sql/sqlite/group.ts'
import { runGroup } from '../../../src/stores/sql/sqlite/group.ts'
import type * as OpenModule from '../../../src/stores/sql/sqlite/open.ts'
import { openDatabase } from '../../../src/stores/sql/sqlite/open.ts'
import { createPluginDirectory } from '../../support/plugin-folders.ts'

const ROOT = path.resolve(import.meta.dirname, '../../..')

/** The store's program: the real one, or a copy of it in which something is wrong. */
export interface StoreProgram {
  readonly openDatabase: typeof openDatabase
  readonly runGroup: typeof runGroup
}

/** The real one. */
export const REAL: StoreProgram = { openDatabase, runGroup }

/** A database in this thread's memory. */
export interface MemoryDatabase {
  run<Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>>
  sql(text: string): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

/** Opens one. Commands are run one after another, as the thread does; one that fails rejects with its fault. */
export async function openInMemory(
  { openDatabase: open, runGroup: run }: StoreProgram,
  nowMs: () => number = () => 1_000_000,
): Promise<MemoryDatabase> {
  const database = await open(':memory:')
  let last: Promise<unknown> = Promise.resolve()
  return {
    run(name, input) {
      const answer = last.then(async () => {
        const group = { commands: [{ name, input }], nowMs: nowMs(), deadlineMs: Number.POSITIVE_INFINITY }
        const [outcome] = await run(database, group)
        if (outcome === undefined || 'fault' in outcome) {
          const { code = 'internal_error', message = '', reason = '' } = outcome?.fault ?? {}
          throw Object.assign(new Error(`${name}: ${message} (${reason})`), { code })
        }
        // The cast is safe: a command answers with its own output.
        return outcome.output as never
      })
      last = answer.catch(() => {})
      return answer
    },
    sql: async (text) =>
      database.raw
        .prepare(text)
        .all()
        .map((row) => ({ ...row })),
    close: () => database.db.destroy(),
  }
}

/** File in `src/stores/sql`, right text, and the wrong text in its place. */
export type Fault = readonly [file: string, right: string, wrong: string]

/** Asserts that each fault has its place in the sources, once: `npm test` makes few of them. */
export function assertPlaces(t: ExecutionContext, faults: Readonly<Record<string, Fault>>): void {
  for (const [name, fault] of Object.entries(faults)) {
    const [file, right] = fault
    const text = readFileSync(path.join(ROOT, 'src/stores/sql', file), 'utf8')
    t.is(text.split(right).length, 2, name)
  }
}

/** Copies the store, with a fault or without. */
export async function copyOfStore(t: ExecutionContext, fault?: Fault): Promise<StoreProgram> {
  const copy = createPluginDirectory(t).path
  for (const folder of ['core', 'stores/sql'])
    cpSync(path.join(ROOT, 'src', folder), path.join(copy, 'src', folder), { recursive: true })
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'))
  writeFileSync(path.join(copy, 'package.json'), '{ "type": "module" }')
  const sources = path.join(copy, 'src/stores/sql')
  if (fault !== undefined) {
    const [file, right, wrong] = fault
    const changed = path.join(sources, file)
    const text = readFileSync(changed, 'utf8')
    writeFileSync(
      changed,
      text.replace(right, () => wrong),
    )
  }
  // The casts are safe: the copies have the same types.
  const opening = (await import(path.join(sources, 'sqlite/open.ts'))) as typeof OpenModule
  const running = (await import(path.join(sources, 'sqlite/group.ts'))) as typeof GroupModule
  return { openDatabase: opening.openDatabase, runGroup: running.runGroup }
}
