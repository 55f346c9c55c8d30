import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Owner } from '../../support/postgres.ts'

/*
 * Two ways to stall the disk of a gateway from outside: its file system is frozen, so that the kernel holds back each
 * write; or another connection holds the write locks of all databases, which needs no permission.
 */

const DISK_BYTES = 128 * 1024 * 1024
const BUSY_TIMEOUT_MS = 60_000
/** Freezes until standard input ends, even when the test's process is killed. */
const FREEZE = 'fsfreeze --freeze "$1" && echo frozen && read -r _; fsfreeze --unfreeze "$1"'

/** A data folder whose disk can stall. */
export interface Disk {
  readonly folder: string
  /** Stalls the disk, and resolves with the function that lets it continue. */
  stall(): Promise<() => Promise<void>>
}

/** Creates a folder that stalls by locks: readers continue, writers wait. */
export function createLockedDisk(owner: Owner): Disk {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-locked-'))
  owner.teardown(async () => rmSync(folder, { recursive: true, force: true }))
  return {
    folder,
    async stall() {
      const databases = ['turnpike.db', 'telemetry.db'].map((name) => {
        const database = new DatabaseSync(path.join(folder, name), { timeout: BUSY_TIMEOUT_MS })
        database.exec('begin immediate')
        return database
      })
      return async () => {
        for (const database of databases) database.close() // which rolls back
      }
    },
  }
}

/** Creates a file system of its own that is frozen; returns `undefined` where this process may not mount one. */
export function createFrozenDisk(owner: Owner): Disk | undefined {
  const base = mkdtempSync(path.join(tmpdir(), 'turnpike-frozen-'))
  const [image, folder] = [path.join(base, 'image'), path.join(base, 'data')]
  const isMounted = mount(image, folder)
  owner.teardown(async () => {
    if (isMounted) execFileSync('umount', [folder])
    rmSync(base, { recursive: true, force: true })
  })
  return isMounted ? { folder, stall: () => freeze(folder) } : undefined
}

function mount(image: string, folder: string): boolean {
  mkdirSync(folder)
  writeFileSync(image, '')
  truncateSync(image, DISK_BYTES)
  try {
    execFileSync('mkfs.ext4', ['-q', image], { stdio: 'ignore' })
    execFileSync('mount', ['-o', 'loop', image, folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function freeze(folder: string): Promise<() => Promise<void>> {
  const child = spawn('sh', ['-c', FREEZE, 'sh', folder], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const frozen = once(child.stdout, 'data').then(() => true)
  if (!(await Promise.race([frozen, ended.then(() => false)]))) throw new Error(`\`${folder}\` cannot be frozen.`)
  return async () => {
    child.stdin.end()
    await ended
  }
}
