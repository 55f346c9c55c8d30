import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import path from 'node:path'

/** Folder to which `npm run services` unpacks Chromium without root. */
export const UNPACKED_CHROMIUM = path.resolve(import.meta.dirname, '../node_modules/.cache/chromium')

/** Installed Chromium. */
export interface Chromium {
  /** Absolute path. */
  readonly program: string
  /** Variables that it needs in addition to the environment of this process. */
  readonly env: Readonly<Record<string, string>>
}

/** The shell renders as the browser does, with a fifth less CPU. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Finds Chromium on PATH, or unpacked; `undefined` when none runs. */
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
