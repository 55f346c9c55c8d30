/**
 * Last step of `npm ci` and first of `npm pack`. Plain JavaScript: without development packages npm runs it on the
 * machine's own Node. Then it builds nothing and succeeds: the gateway runs from its sources, without pages.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
const PACKAGES = path.join(ROOT, 'node_modules')

if (existsSync(path.join(PACKAGES, 'rolldown')) && existsSync(path.join(PACKAGES, 'vite'))) {
  removeHeaders()
  removeCopies()
  for (const script of ['build:dashboard', 'build:gateway'])
    execFileSync('npm', ['run', '--silent', script], {
      cwd: ROOT,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    })
} else console.log('Nothing is built: the builders are not installed (npm ci without --omit=dev).')

/** Removes 67 MB of C headers that come with Node: nothing here is compiled against them. */
function removeHeaders() {
  const { platform, arch } = process
  const name = `node-${platform === 'win32' ? 'win' : platform}-${arch}`
  rmSync(path.join(PACKAGES, 'node/node_modules', name, 'include'), { recursive: true, force: true })
}

/**
 * Removes copies of a tokenizer's tables, 22 of 30 MB: it ships them five times, as sources, for `require`, as data.
 */
function removeCopies() {
  for (const copy of ['cjs', 'data', 'src'])
    rmSync(path.join(PACKAGES, 'gpt-tokenizer', copy), { recursive: true, force: true })
}
