import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { CommandError } from '../exit-codes.ts'

/** Result of `writeOwnFile`. */
export interface WrittenFile {
  readonly isChanged: boolean
  /** The file with the user's edits, which was put aside. */
  readonly backup?: string
}

const MARK = /^# turnpike codex, sha256 ([0-9a-f]{64})\n/
const MOST_BACKUPS = 100

/** Returns a text below a line with its digest, by which the file is recognised later, and whether it was edited. */
export function markedText(text: string): string {
  return `# turnpike codex, sha256 ${hash('sha256', text)}\n${text}`
}

/**
 * Writes a marked text into a file. A file that has the text already stays, one with edits of the user is put aside, one
 * without the mark is never touched: throws `CommandError`.
 */
export function writeOwnFile(file: string, text: string): WrittenFile {
  const found = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  if (found === text) return { isChanged: false }
  const [mark, digest] = found === undefined ? [] : (MARK.exec(found) ?? [''])
  if (mark === '')
    throw new CommandError(
      1,
      `\`${file}\` was not written by this command, and stays as it is. Choose another name: --profile.`,
    )
  const isEdited = found !== undefined && hash('sha256', found.slice(mark?.length)) !== digest
  const backup = isEdited ? freeName(file) : undefined
  mkdirSync(path.dirname(file), { recursive: true })
  if (backup !== undefined) renameSync(file, backup)
  const draft = `${file}.${process.pid}.tmp`
  writeFileSync(draft, text)
  renameSync(draft, file)
  return { isChanged: true, ...(backup !== undefined && { backup }) }
}

function freeName(file: string): string {
  for (let nth = 1; nth <= MOST_BACKUPS; nth++) if (!existsSync(`${file}.bak${nth}`)) return `${file}.bak${nth}`
  throw new CommandError(1, `\`${file}\` has ${MOST_BACKUPS} backups beside it. Remove some.`)
}
