import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import path from 'node:path'

/** Where `npm run services` unpacks PostgreSQL when it may not install it. */
export const UNPACKED_POSTGRES = path.resolve(import.meta.dirname, '../node_modules/.cache/postgresql')

/** A PostgreSQL that is there. */
export interface PostgresPrograms {
  /** The folder of `initdb` and `postgres`. */
  readonly bin: string
  /** What its programs need besides the environment of this process. */
  readonly env: Readonly<Record<string, string>>
}

/** Finds PostgreSQL: on PATH, where Debian keeps it off the PATH, or unpacked. `undefined`: there is none that runs. */
export function findPostgres(): PostgresPrograms | undefined {
  const libraries = globSync(`${UNPACKED_POSTGRES}/usr/lib/*-linux-gnu*`).join(':')
  const onPath = (process.env.PATH ?? '').split(':').filter((folder) => folder !== '')
  const places = [
    ...onPath.map((bin) => ({ bin, env: {} })),
    ...newestFirst('/usr/lib/postgresql/*/bin').map((bin) => ({ bin, env: {} })),
    ...newestFirst(`${UNPACKED_POSTGRES}/usr/lib/postgresql/*/bin`).map((bin) => ({
      bin,
      env: { LD_LIBRARY_PATH: libraries },
    })),
  ]
  return places.find(({ bin, env }) => ['initdb', 'postgres'].every((program) => runs(path.join(bin, program), env)))
}

function newestFirst(pattern: string): string[] {
  return globSync(pattern).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
}

function runs(program: string, env: Readonly<Record<string, string>>): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore', env: { ...process.env, ...env } }).status === 0
}
