import { statSync } from 'node:fs'

/**
 * Identity of an open file. SQLite continues with a file that was unlinked or replaced, and its commits are lost
 * with the process: the path is compared with the file at the opening, by device and inode.
 */
export class FilePlace {
  readonly #file: string
  readonly #identity: string | undefined

  /** To be created right after the opening. A path without a file, such as `:memory:`, always counts as in place. */
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
