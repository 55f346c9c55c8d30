import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { eventually } from '../eventually.ts'
import { freePort } from '../ports.ts'
import { type Owner, query } from '../postgres.ts'
import type { VectorServer } from '../vector-database.ts'

const SERVER = path.join(import.meta.dirname, 'server.ts')

/** More than the tests of a server, for it is slow to begin. */
const STARTS_WITHIN_MS = 60_000

/** Starts PGlite as a server. It has one database: who asks for one waits until the one before has been given back. */
export async function createPglite(owner: Owner, env: Readonly<Record<string, string>> = {}): Promise<VectorServer> {
  const port = await freePort()
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-pglite-'))
  const url = `postgresql://turnpike@127.0.0.1:${port}/postgres`
  let child: ChildProcess | undefined
  let inUse: Promise<void> = Promise.resolve()
  const killOnExit = () => void child?.kill('SIGKILL')
  process.once('exit', killOnExit)
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  const start = async () => {
    const words = [SERVER, String(port), path.join(folder, 'data')]
    child = spawn(process.execPath, words, { stdio: 'ignore', env: { ...process.env, ...env } })
    await eventually(() => query(url, 'select 1').then(Boolean, () => false), 'PGlite answers', STARTS_WITHIN_MS)
  }
  owner.teardown(async () => {
    process.off('exit', killOnExit)
    await kill()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  await start()
  return {
    async createDatabase(user) {
      const before = inUse
      const mine = Promise.withResolvers<void>()
      inUse = mine.promise
      user.teardown(async () => mine.resolve())
      await before
      await query(url, 'drop schema public cascade; create schema public')
      return url
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    kill,
    start,
  }
}
