import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/*
 * DESIGN. A gateway whose day is as long as the run: a copy of the project with other constants, and the bundle of it, so
 * that memory is that of what is shipped.
 *
 *   durations   what the gateway does now and then, and how long it keeps what has ended. Leases, time-outs and calendars
 *               stay as they are: a clock that runs faster would end the leases of requests that run, and PostgreSQL has
 *               its own.
 *   bounds      memories of a fixed size, which a team fills within hours: smaller, so that they are full in the first
 *               half, and what still grows in the last one is a leak.
 *
 * Options for these constants would be a promise to users. A line that is missing throws.
 */

const ROOT = path.resolve(import.meta.dirname, '../..')
const COPIED = ['bin', 'scripts', 'src', 'plugins', 'package.json', 'package-lock.json', 'tsconfig.json']
const LINKED = ['node_modules', 'dashboard']

/** Durations of a short day, in milliseconds. */
export interface ShortDay {
  /** Interval of two sweeps of old rows. */
  readonly sweepMs: number
  /** Retention of rows that are kept for a day and longer. */
  readonly keepMs: number
}

/** A file, a line of it, the value in that line, and the value to write instead. */
type Change = readonly [file: string, line: string, before: string, after: string | number]

function changesOf({ sweepMs, keepMs }: ShortDay): readonly Change[] {
  return [
    ['src/stores/sql/retention/retention.ts', 'const EVERY_MS = 10 * 60 * 1000', '10 * 60 * 1000', sweepMs],
    ['src/stores/sql/spend/holds.ts', 'const SETTLED_KEPT_MS = 24 * 60 * 60 * 1000', '24 * 60 * 60 * 1000', keepMs],
    ['src/stores/sql/credits/end.ts', 'const ENDED_KEPT_MS = 24 * 60 * 60 * 1000', '24 * 60 * 60 * 1000', keepMs],
    ['src/core/system/rest.ts', 'const EVERY_MS = 60_000', '60_000', REST_MS],
    ['src/core/system/rest.ts', 'const WORKED_MS = 10_000', '10_000', WORK_MS],
    ['src/config/kept.ts', `keep: duration({ min: '1h'`, '1h', `${keepMs}ms`],
    ['src/journal/prefix/memory.ts', 'const MOST_BYTES = 16 * 1024 * 1024', '16 * 1024 * 1024', 2 * MB],
    ['src/core/request/conversation/conversations.ts', 'const MOST_KNOWN = 16_384', '16_384', FEW],
    ['src/core/request/conversation/prefix-index.ts', 'const MOST_FAMILIES = 8192', '8192', FEW],
    ['src/stores/sql/spend/reservation-pools.ts', 'const MOST_REMEMBERED = 10_000', '10_000', FEW],
    ['plugins/prompt-cache/planner.ts', 'const MOST_SCOPES = 2000', '2000', FEW / 4],
    ['plugins/prompt-cache/odds.ts', 'const MOST_PENDING = 20_000', '20_000', FEW],
    ['plugins/cost-guard/expectation.ts', 'const MOST_KEYS = 2000', '2000', FEW / 4],
    ['plugins/redact/known-texts.ts', 'const MOST_TEXTS = 20_000', '20_000', FEW],
    ['plugins/redact/known-texts.ts', 'const MOST_FINDINGS = 100_000', '100_000', 5 * FEW],
  ]
}

const MB = 1024 * 1024
const REST_MS = 10_000
const WORK_MS = 2000
/** Entries that a day fills in its first half. */
export const FEW = 400

/** Copies the project into an empty folder and bundles it there. Returns the command's entry. Throws when the build fails. */
export function buildShortDay(folder: string, day: ShortDay): string {
  for (const name of COPIED) cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true })
  for (const name of LINKED) symlinkSync(path.join(ROOT, name), path.join(folder, name))
  for (const [file, line, before, after] of changesOf(day)) {
    const source = readFileSync(path.join(folder, file), 'utf8')
    if (!source.includes(line)) throw new Error(`Expected \`${line}\` in ${file}: test/soak/short-day.ts changes it`)
    writeFileSync(path.join(folder, file), source.replace(line, line.replace(before, String(after))))
  }
  execFileSync(process.execPath, ['scripts/build-gateway.ts'], { cwd: folder, stdio: 'inherit' })
  return path.join(folder, 'bin/turnpike.mjs')
}
