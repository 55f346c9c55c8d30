import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import path from 'node:path'

/** Where `npm run services` unpacks Chromium when it may not install it. */
export const UNPACKED_CHROMIUM = path.resolve(import.meta.dirname, '../node_modules/.cache/chromium')

/** A Chromium that is there. */
export interface Chromium {
  /** Its whole path. */
  readonly program: string
  /** What it needs besides the environment of this process. */
  readonly env: Readonly<Record<string, string>>
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Finds Chromium: on PATH, or unpacked. `undefined`: there is none that runs. */
export function findChromium(): Chromium | undefined {
  const libraries = globSync(`${UNPACKED_CHROMIUM}/usr/lib/*-linux-gnu*`).join(':')
  const unpacked = { program: `${UNPACKED_CHROMIUM}/usr/lib/chromium/chromium`, env: { LD_LIBRARY_PATH: libraries } }
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => folder !== '')
  const onPath = NAMES.flatMap((name) => folders.map((folder) => ({ program: path.join(folder, name), env: {} })))
  return [...onPath, unpacked].filter(({ program }) => existsSync(program)).find(runs)
}

function runs({ program, env }: Chromium): boolean {
  const words = ['--version', '--no-sandbox', '--headless']
  return spawnSync(program, words, { stdio: 'ignore', env: { ...process.env, ...env } }).status === 0
}
