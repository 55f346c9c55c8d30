import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '../support/eventually.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'
import { isPostgresExpected } from '../support/postgres.ts'
import { hasProcessFacts } from '../support/process-facts.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const BEGUN = /^tests in (\S+)$/m
const LONGEST_START_MS = 50_000

/** Instead of npm: no step does anything but the tests, which print the run's folder and run until they are ended. */
const NPM = `#!/bin/sh
[ "$3" = tests ] || exit 0
[ -z "$STUBBORN" ] || trap '' TERM
echo "tests in $TMPDIR"
sleep 600
sleep 600
`

/** Lists the processes with this text in their arguments or their environment. */
function processesWith(text: string): string[] {
  return readdirSync('/proc').filter(
    (id) => /^\d+$/.test(id) && ['cmdline', 'environ'].some((name) => names(id, name, text)),
  )
}

function names(id: string, name: string, text: string): boolean {
  try {
    return readFileSync(`/proc/${id}/${name}`, 'latin1').includes(text)
  } catch {
    return false // it has ended meanwhile
  }
}

const testRun = hasProcessFacts && isPostgresExpected ? test.serial : test.serial.skip

for (const [what, toGroup, signal] of [
  ['SIGTERM to the run alone', false, 'SIGTERM'],
  ['SIGINT to its group', true, 'SIGINT'],
] as const)
  testRun(`run: ${what} ends the servers, the browser and the tests, and removes its folder`, async (t) => {
    const { pid, ended, isGone, log } = await startRun(t)
    process.kill(toGroup ? -pid : pid, signal)
    t.deepEqual(await ended, [128 + constants.signals[signal], null], log())
    await isGone()
  })

testRun(
  'run: tests that print nothing for too long are ended with a reason, also when they refuse to end',
  async (t) => {
    const { ended, isGone, log } = await startRun(t, { TURNPIKE_TEST_SILENCE_MS: '1000', STUBBORN: 'yes' })
    t.deepEqual(await ended, [1, null], log())
    t.regex(log(), /npm test was ended: no line for 1 s/)
    await isGone()
  },
)

/** Starts a run, and returns when its tests have begun. */
async function startRun(t: ExecutionContext, more: Readonly<Record<string, string>> = {}) {
  const place = createPluginDirectory(t)
  chmodSync(place.put('bin/npm', NPM), 0o755)
  chmodSync(place.path, 0o711)
  const { PATH = '', HOME = '' } = process.env
  // Names all of the run's processes, also where it has no folder of its own.
  const env = { PATH: `${path.join(place.path, 'bin')}:${PATH}`, HOME, TMPDIR: tmpdir(), RUN: place.path, ...more }
  const run = spawn(process.execPath, ['scripts/test.ts'], { cwd: ROOT, env, detached: true })
  const ended = once(run, 'exit')
  t.teardown(() => {
    for (const id of processesWith(place.path)) process.kill(Number(id), 'SIGKILL')
  })
  let log = ''
  const collect = (piece: Buffer) => {
    log += piece
  }
  for (const output of [run.stdout, run.stderr]) output.on('data', collect)
  await eventually(() => BEGUN.test(log) || run.exitCode !== null, 'the tests have begun', LONGEST_START_MS)
  const [, folder = ''] = BEGUN.exec(log) ?? []
  const programs = processesWith(place.path).map((id) => readFileSync(`/proc/${id}/cmdline`, 'latin1'))
  for (const server of ['postgres', 'chrom'])
    t.true(
      programs.some((program) => program.includes(server)),
      log,
    )
  return {
    pid: Number(run.pid),
    ended,
    log: () => log,
    /** Asserts that neither processes nor the folder are left. */
    async isGone() {
      await eventually(() => processesWith(place.path).length === 0, 'no process is left')
      t.is(existsSync(folder), folder === tmpdir(), log)
    },
  }
}
