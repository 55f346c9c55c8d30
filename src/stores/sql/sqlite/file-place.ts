import { statSync } from 'node:fs'

/**
 * The place of a file that is open. SQLite goes on with a file that was unlinked or replaced, and what it commits is gone
 * with the process: the path is compared with the file that was there at the opening, by device and inode.
 */
export class FilePlace {
  readonly #file: string
  readonly #identity: string | undefined

  /** To be made right after the opening. A path without a file, as `:memory:`, always counts as in place. */
  constructor(file: string) {
    this.#file = file
    this.#identity = identityOf(file)
  }

  isKept(): boolean {
    return this.#identity === undefined || identityOf(this.#file) === this.#identity
  }
}

function identityOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat && `${stat.dev}:${stat.ino}`
}
