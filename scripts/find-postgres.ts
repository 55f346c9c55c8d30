import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import path from 'node:path'

/** Folder to which `npm run services` unpacks PostgreSQL without root. */
export const UNPACKED_POSTGRES = path.resolve(import.meta.dirname, '../node_modules/.cache/postgresql')

/** Installed PostgreSQL. */
export interface PostgresPrograms {
  /** Folder of `initdb` and `postgres`. */
  readonly bin: string
  /** Variables that its programs need in addition to the environment of this process. */
  readonly env: Readonly<Record<string, string>>
}

/** Finds PostgreSQL on PATH, in Debian's folder outside of PATH, or unpacked; `undefined` when none runs. */
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
