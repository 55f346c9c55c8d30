/**
 * `npm test`: the checks and the tests, one npm script after another. The first that fails ends it and is named.
 * The tests come last, so that the output ends with their summary.
 */
import { spawnSync } from 'node:child_process'

const STEPS = ['check:lint', 'check:types', 'check:unused', 'check:docs', 'check:examples', 'services', 'tests']

for (const step of STEPS) {
  console.log(`\n▸ npm run ${step}`)
  // On Windows npm is a script that only a shell can start.
  const { status } = spawnSync('npm', ['run', '--silent', step], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status === 0) continue
  if (step !== 'tests') console.error(`\n✗ npm test stopped at \`npm run ${step}\`.`)
  process.exit(status ?? 1)
}
