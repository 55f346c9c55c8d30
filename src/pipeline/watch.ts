import { type FSWatcher, watch } from 'node:fs'
import path from 'node:path'
import { messageOf } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'

/** Editors and copies save in several steps: reloads are debounced by this time. */
const QUIET_MS = 500
const PLUGIN_NAME = /^[a-z][a-z0-9-]{0,63}$/

/** Reloads a folder. `isSettled` returns false once something has changed again. */
type OnChange = (folder: string, isSettled: () => boolean) => Promise<void>

/** Calls `onChange` with a plugin folder after something in it changed. Returns the function that stops watching. */
export function watchPlugins(directories: readonly string[], onChange: OnChange, log: Log): () => void {
  const timers = new Map<string, NodeJS.Timeout>()
  const settleThen = (folder: string, prepare: () => void): void => {
    clearTimeout(timers.get(folder))
    const settled = () => {
      timers.delete(folder)
      prepare()
      onChange(folder, () => !timers.has(folder)).catch((error) =>
        log.error({ folder, reason: messageOf(error) }, 'plugin.reload-failed'),
      )
    }
    timers.set(folder, setTimeout(settled, QUIET_MS))
  }
  const watches = directories.map((directory) => {
    const watched = new DirectoryWatch(directory, log, (folder) => settleThen(folder, () => watched.renew()))
    return watched
  })
  return () => {
    for (const watched of watches) watched.close()
    for (const timer of timers.values()) clearTimeout(timer)
  }
}

/** Watches a directory of plugin folders. */
class DirectoryWatch {
  readonly #directory: string
  readonly #log: Log
  readonly #onFolder: (folder: string) => void
  #watcher: FSWatcher | undefined

  constructor(directory: string, log: Log, onFolder: (folder: string) => void) {
    this.#directory = directory
    this.#log = log
    this.#onFolder = onFolder
    this.#watcher = this.#open()
  }

  /** Watches anew: a folder that was deleted and created again is another one, without events for the old watcher. */
  renew(): void {
    const old = this.#watcher
    this.#watcher = this.#open()
    old?.close()
  }

  close(): void {
    this.#watcher?.close()
  }

  #open(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#directory, { recursive: true, persistent: false })
      watcher.on('change', (_event, file) => {
        const [name = ''] = String(file ?? '').split(path.sep)
        if (PLUGIN_NAME.test(name)) this.#onFolder(path.join(this.#directory, name))
      })
      watcher.on('error', (error) => this.#warn(error))
      return watcher
    } catch (error) {
      this.#warn(error)
      return undefined
    }
  }

  #warn(error: unknown): void {
    this.#log.warn({ directory: this.#directory, reason: messageOf(error) }, 'plugins.unwatched')
  }
}
