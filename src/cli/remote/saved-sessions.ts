import { closeSync, fchmodSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import { errorCodeOf } from '../../core/errors.ts'
import { makeFolder } from '../../core/system/make-folder.ts'
import { CommandError } from '../exit-codes.ts'

const key = z.object({ id: z.string(), key: z.string(), createdAtMs: z.number() })
const session = z.object({
  token: z.string(),
  expiresAtMs: z.number(),
  /** Key that `turnpike login --print-key` has created, and the one before it. */
  key: key.optional(),
  previousKeyId: z.string().optional(),
})
const file = z.object({ gateways: z.record(z.string(), session) })

/** Session of one gateway, saved by `turnpike login`. */
export type SavedSession = z.infer<typeof session>

const PRIVATE = 0o600

/** Returns the file of saved sessions in the user's configuration folder (XDG Base Directory). */
export function sessionsFile(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CONFIG_HOME: config, HOME: home = homedir() } = env
  const folder = config && path.isAbsolute(config) ? config : path.join(home, '.config')
  return path.join(folder, 'turnpike', 'sessions.json')
}

/** Returns the saved session of a gateway. Throws `CommandError` for a file of another form. */
export function savedSession(url: string): SavedSession | undefined {
  const saved = readSessions()[new URL(url).origin]
  return saved !== undefined && saved.expiresAtMs > Date.now() ? saved : undefined
}

/** Saves the session of a gateway, readable by this user alone; `undefined` removes it. */
export function saveSession(url: string, saved: SavedSession | undefined): void {
  const { [new URL(url).origin]: _, ...others } = readSessions()
  const gateways = saved === undefined ? others : { ...others, [new URL(url).origin]: saved }
  const target = sessionsFile()
  makeFolder(path.dirname(target))
  const draft = `${target}.${process.pid}.tmp`
  const descriptor = openSync(draft, 'w', PRIVATE)
  try {
    // A draft that was left over may have another mode.
    fchmodSync(descriptor, PRIVATE)
    writeSync(descriptor, `${JSON.stringify({ gateways }, null, 2)}\n`)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, target)
}

function readSessions(): Readonly<Record<string, SavedSession>> {
  const target = sessionsFile()
  try {
    return file.parse(JSON.parse(readFileSync(target, 'utf8'))).gateways
  } catch (cause) {
    if (errorCodeOf(cause) === 'ENOENT') return {}
    throw new CommandError(1, `\`${target}\` cannot be read. Remove it, and sign in again.`, { cause })
  }
}
