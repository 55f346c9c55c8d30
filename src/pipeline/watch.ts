import { type FSWatcher, watch } from 'node:fs'
import path from 'node:path'
import { messageOf } from '../core/errors.ts'
import type { Log } from '../core/ports.ts'

/** Editors save in several steps: a folder is reloaded once it has been quiet for this long. */
const QUIET_MS = 150

/** Calls `onChange` with a plugin folder after something in it changed. Returns the function that stops watching. */
export function watchPlugins(
  directories: readonly string[],
  onChange: (folder: string) => Promise<void>,
  log: Log,
): () => void {
  const timers = new Map<string, NodeJS.Timeout>()
  const watchers = directories.flatMap((directory) => {
    const watcher = watchDirectory(directory, (folder) => settleThen(folder), log)
    return watcher === undefined ? [] : [watcher]
  })
  const settleThen = (folder: string): void => {
    clearTimeout(timers.get(folder))
    timers.set(
      folder,
      setTimeout(() => {
        timers.delete(folder)
        onChange(folder).catch((error) => log.error({ folder, reason: messageOf(error) }, 'plugin.reload-failed'))
      }, QUIET_MS),
    )
  }
  return () => {
    for (const watcher of watchers) watcher.close()
    for (const timer of timers.values()) clearTimeout(timer)
  }
}

function watchDirectory(directory: string, onFolder: (folder: string) => void, log: Log): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { recursive: true, persistent: false })
    watcher.on('change', (_event, file) => {
      const [name = ''] = String(file ?? '').split(path.sep)
      if (/^[a-z][a-z0-9-]{0,63}$/.test(name)) onFolder(path.join(directory, name))
    })
    watcher.on('error', (error) => log.warn({ directory, reason: messageOf(error) }, 'plugins.unwatched'))
    return watcher
  } catch (error) {
    log.warn({ directory, reason: messageOf(error) }, 'plugins.unwatched')
    return undefined
  }
}
