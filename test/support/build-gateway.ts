import { execFileSync } from 'node:child_process'
import path from 'node:path'

/**
 * Builds the bundle that `turnpike start` runs. In a checkout whose sources have changed it runs the sources, which takes
 * 65 MB more. Throws when the build fails.
 */
export function buildGateway(): void {
  execFileSync('npm', ['run', '--silent', 'build:gateway'], {
    cwd: path.resolve(import.meta.dirname, '../..'),
    stdio: 'inherit',
  })
}
