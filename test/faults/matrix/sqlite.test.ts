import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { sqliteFile } from '../../../src/stores/sql/sqlite/location.ts'
import { eventually } from '../../support/eventually.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import type { Owner } from '../../support/postgres.ts'
import { openPlant } from './plant.ts'
import { defineRow, openStand, type Stand, type Way } from './row.ts'

/*
 * The disk and the clock of gateways on SQLite, which trust both. The data folder is a small disk of its own where this
 * process may mount one.
 */

const HOUR_MS = 3_600_000
/** Largest accepted difference of clocks. */
const ROOM_MS = 300_000
const DISK_BYTES = 64 * 1024 * 1024
const settings = mkdtempSync(path.join(tmpdir(), 'turnpike-faults-'))
const clockFile = path.join(settings, 'clock')
const diskFile = path.join(settings, 'disk')
const disk = path.join(settings, 'data')
writeFileSync(clockFile, '')
writeFileSync(diskFile, '')
const isMounted = mount()

const PRELOADS = ['clock.ts', 'disk.ts'].map(
  (name) => `--import=${pathToFileURL(path.join(import.meta.dirname, 'preloads', name)).href}`,
)
const ENV = { NODE_OPTIONS: PRELOADS.join(' '), TURNPIKE_CLOCK: clockFile, TURNPIKE_DISK: diskFile }

let opened: Promise<Stand> | undefined

function open(owner: Owner): Promise<Stand> {
  opened ??= openOnce(owner)
  return opened
}

async function openOnce(owner: Owner): Promise<Stand> {
  owner.teardown(async () => {
    if (isMounted) execFileSync('umount', [disk])
    rmSync(settings, { recursive: true, force: true })
  })
  const plant = await openPlant(owner, { engine: 'sqlite', dataDir: path.join(disk, 'cloud') })
  const localEnv = { ...ENV, SVC_DATA_DIR: path.join(disk, 'local') }
  const [cloud, local] = await Promise.all([plant.startCloud(undefined, ENV), plant.startLocal(undefined, localEnv)])
  return openStand(plant, { cloud, local })
}

/** Makes the data folder a disk of its own; returns whether that succeeded. */
function mount(): boolean {
  execFileSync('mkdir', [disk])
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Limits the size of any file for both gateways. */
function limitFiles({ cloud, local }: Stand, bytes: number | 'unlimited'): void {
  for (const { pid } of [cloud, local as GatewayProcess])
    execFileSync('prlimit', ['--pid', `${pid}`, `--fsize=${bytes}:`])
}

const failing: Way = {
  name: 'writes fail',
  begin(stand) {
    limitFiles(stand, 1)
    return () => limitFiles(stand, 'unlimited')
  },
}

const full: Way = {
  name: 'no space left',
  begin(_, t) {
    if (!isMounted) {
      t.log('a disk cannot be mounted here: not checked')
      return () => {}
    }
    // Present pages of the log could be overwritten.
    for (const name of ['cloud', 'local']) truncateLog(path.join(disk, name))
    const filler = path.join(disk, 'filler')
    const { bavail, bsize } = statfsSync(disk)
    t.throws(() => writeFileSync(filler, Buffer.alloc((bavail + 1) * bsize)), { code: 'ENOSPC' })
    return () => rmSync(filler)
  },
  ...(!isMounted && { cell: { says: 'not checked here' } }),
}

function truncateLog(folder: string): void {
  const database = new DatabaseSync(sqliteFile(folder), { timeout: 10_000 })
  database.exec('pragma wal_checkpoint(truncate)')
  database.close()
}

/** Delays each commit on the disk. */
function waiting(name: string, told: string): Way {
  return {
    name,
    begin() {
      writeFileSync(diskFile, told)
      return () => writeFileSync(diskFile, '')
    },
  }
}

/** Damages a file, which the start reports; with a backup in its place all is restored. The others serve meanwhile. */
const damaged: Way = {
  name: 'the database of a gateway that starts is damaged',
  async begin({ plant }, t) {
    const folder = mkdtempSync(path.join(disk, 'damaged-'))
    const file = sqliteFile(folder)
    const env = { ...ENV, SVC_DATA_DIR: folder }
    await plant.sql(`vacuum into '${file}'`)
    const backup = readFileSync(file)
    writeFileSync(file, Buffer.alloc(backup.length, 0xff))
    const refusal = await t.throwsAsync(plant.startCloud(undefined, env))
    t.regex(refusal?.message ?? '', /is not a database, or is damaged/)
    writeFileSync(file, backup)
    await (await plant.startCloud(undefined, env)).stop()
    return () => rmSync(folder, { recursive: true })
  },
}

/** Sets the clock off by so much, and its speed. */
function clock(name: string, offMs: number, speed = 1): Way {
  return {
    name,
    async begin({ cloud, local }) {
      const text = `${offMs} ${speed}`
      writeFileSync(clockFile, text)
      const seen = [cloud, local].map((gateway) => `${clockFile}.${gateway?.pid}`)
      await eventually(
        () => seen.every((file) => existsSync(file) && readFileSync(file, 'utf8') === text),
        'gateways have that clock',
      )
      return () => writeFileSync(clockFile, '0 1')
    },
  }
}

defineRow('disk', {
  open,
  ways: {
    refuses: [failing],
    hangs: [waiting('commits hang', 'hang')],
    slow: [waiting('commits take 100 ms', '100')],
    garbage: [damaged],
    full: [full],
  },
  quick: ['hangs'],
})
defineRow('clock', {
  open,
  ways: {
    hangs: [clock('stands still', 0, 0)],
    slow: [clock('at half its speed', 0, 0.5)],
    resets: [clock('an hour back', -HOUR_MS)],
    garbage: [clock('an hour forward', HOUR_MS + ROOM_MS)],
  },
  quick: ['resets'],
})
