import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('peer/', import.meta.url))
const LONGEST_INSTALL_MS = 180_000

/** Installs the peer gateway into bench/peer on first use. Throws an Error with the reason of a failure. */
export function installPeer(): void {
  if (existsSync(`${folder}node_modules/@portkey-ai/gateway`)) return
  console.log('Installing the peer gateway into bench/peer (once, about 10 s).')
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  try {
    execFileSync('npm', args, { cwd: folder, stdio: 'pipe', timeout: LONGEST_INSTALL_MS })
  } catch (cause) {
    throw new Error('`npm ci` in bench/peer failed; is the registry reachable?', { cause })
  }
}
