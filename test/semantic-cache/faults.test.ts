import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import { FileStore } from '../../plugins/semantic-cache/answers/file/store.ts'
import { eventually, type Fixture, startFixtureWith, stateOf } from '../support/cache-fixture.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { createRecordingLog } from '../support/recording-log.ts'

const PIPE = 'semantic-cache'
const HOUR_MS = 3_600_000
const run = promisify(execFile)

async function dataFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-entries-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** How far into any file the gateway may write: at 1, as on a disk that is full. */
async function limitFiles({ gateway }: Fixture<GatewayProcess>, bytes: number | 'unlimited'): Promise<void> {
  await run('prlimit', ['--pid', String(gateway.pid), `--fsize=${bytes}:`])
}

test('local: a disk that is full costs misses, is logged, and heals', async (t) => {
  const folder = await dataFolder(t)
  const fixture = await startFixtureWith(startGatewayProcess, { env: { SVC_DATA_DIR: folder } })
  t.teardown(fixture.close)
  const ask = (prompt: string) => fixture.ask(prompt, { pipe: PIPE })
  const untilState = (prompt: string, state: string) =>
    eventually(
      () => ask(prompt),
      (reply) => stateOf(reply) === state,
    )
  await untilState('How do I wax a sledge?', 'hit')
  await limitFiles(fixture, 1)
  for (let i = 0; i < 4; i++) {
    const reply = await ask(`How do I paint kayak ${i}?`)
    t.is(reply.status, 200)
    t.is(stateOf(reply), 'miss')
  }
  t.is(stateOf(await ask('How do I wax a sledge?')), 'hit', 'what was written is given')
  await eventually(
    async () => fixture.gateway.log(),
    (log) => log.includes('entries.failed'),
  )
  await limitFiles(fixture, 'unlimited')
  await untilState('How do I paint kayak 0?', 'hit')
  await fixture.close()
  const { stdout } = await runCommandInThread(['cache', 'inspect', 'kayak 0', '--json'], {
    env: { SVC_DATA_DIR: folder },
  })
  t.is(JSON.parse(stdout).matches, 1, 'and it is in the file')
})

test.serial('local: a thread that is killed loses nothing that was written, and is started anew', async (t) => {
  const started = once(process, 'worker')
  const log = createRecordingLog()
  const store = new FileStore({ folder: await dataFolder(t), maxBytes: 1e8, clock: { nowMs: Date.now }, log })
  t.teardown(() => store.close())
  const [thread] = (await started) as [Worker]
  await store.set('before', Buffer.from('kept'), HOUR_MS)
  await thread.terminate()
  await t.throwsAsync(store.get('before'))
  t.deepEqual(
    log.events().filter((event) => event.startsWith('entries.thread')),
    ['entries.thread-ended'],
  )
  const found = await eventually(
    () => store.get('before').catch(() => undefined),
    (bytes) => bytes !== undefined,
  )
  t.is(String(found), 'kept')
})
