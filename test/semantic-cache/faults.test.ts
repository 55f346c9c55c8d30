import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import { eventually, type Stage, startStageWith, stateOf } from '../support/cache-stage.ts'
import { runCommand } from '../support/command-line.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { vectorServerOfFile } from '../support/vector-database.ts'
import { localPlace, openScopes, type SharedPlace } from './book-stage.ts'

const PIPE = 'semantic-cache'
const HOUR_MS = 3_600_000
const run = promisify(execFile)
const vectorServer = vectorServerOfFile(test)

async function dataFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-entries-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** How far into any file the gateway may write: at 1, as on a disk that is full. */
async function limitFiles({ gateway }: Stage<GatewayProcess>, bytes: number | 'unlimited'): Promise<void> {
  await run('prlimit', ['--pid', String(gateway.pid), `--fsize=${bytes}:`])
}

test('local: a disk that is full costs misses, is told, and heals', async (t) => {
  const folder = await dataFolder(t)
  const stage = await startStageWith(startGatewayProcess, { env: { SVC_DATA_DIR: folder } })
  t.teardown(stage.close)
  const ask = (prompt: string) => stage.ask(prompt, { pipe: PIPE })
  const untilState = (prompt: string, state: string) =>
    eventually(
      () => ask(prompt),
      (reply) => stateOf(reply) === state,
    )
  await untilState('How do I wax a sledge?', 'hit')
  await limitFiles(stage, 1)
  for (let i = 0; i < 4; i++) {
    const reply = await ask(`How do I paint kayak ${i}?`)
    t.is(reply.status, 200)
    t.is(stateOf(reply), 'miss')
  }
  t.is(stateOf(await ask('How do I wax a sledge?')), 'hit', 'what is in memory is given')
  await eventually(
    async () => stage.gateway.log(),
    (log) => log.includes('entries.failed'),
  )
  await limitFiles(stage, 'unlimited')
  await untilState('How do I paint kayak 0?', 'hit')
  await stage.close()
  const { stdout } = await runCommand(['cache', 'inspect', 'kayak 0', '--json'], { env: { SVC_DATA_DIR: folder } })
  t.is(JSON.parse(stdout).matches, 1, 'and it is in the file')
})

test.serial('local: a thread that is killed loses nothing that was written, and is started anew', async (t) => {
  const started = once(process, 'worker')
  const place = await localPlace(t)
  const scopes = openScopes(t, place)
  const [thread] = (await started) as [Worker]
  const untilOpen = () =>
    eventually(
      async () => scopes.open('s'),
      ({ reason }) => reason === undefined,
    )
  await untilOpen()
  const entry = (text: string) => ({ id: text, text, storedAtMs: Date.now(), expiresAtMs: Date.now() + HOUR_MS })
  scopes.add('s', entry('before'), Int8Array.of(127, 0, 0, 0))
  await eventually(
    () => textsOf(place),
    (texts) => texts.includes('before'),
  )
  await thread.terminate()
  t.is((await scopes.open('s')).reason, 'entries-unreachable')
  t.deepEqual(
    place.log.events().filter((event) => event.startsWith('entries.thread')),
    ['entries.thread-ended'],
  )
  const { index } = await untilOpen()
  t.is(index?.find('before', 0)?.id, 'before')
  scopes.add('s', entry('after'), Int8Array.of(127, 0, 0, 0))
  await eventually(
    () => textsOf(place),
    (texts) => texts.includes('after'),
  )
})

/** What another process would find. */
async function textsOf(place: SharedPlace): Promise<string[]> {
  const book = place.open()
  const texts: string[] = []
  await book.list((found) => texts.push(...found.flatMap(({ fact }) => (fact.kind === 'entry' ? fact.entry.text : []))))
  await book.close()
  return texts
}

async function largeScope(...words: string[]): Promise<{ first: boolean; last: boolean; missing: number }> {
  const file = (name: string) => path.join(import.meta.dirname, name)
  const { stdout } = await run(process.execPath, [
    '--import',
    file('without-hnswlib.ts'),
    file('large-scope.ts'),
    ...words,
  ])
  return JSON.parse(stdout)
}

test('semantic-cache: without `hnswlib-node` the last entries of a large scope are compared, and one line says so', async (t) => {
  t.deepEqual(await largeScope(), { first: false, last: true, missing: 1 })
})

test('postgres: without `hnswlib-node` all entries of a large scope are compared by the database', async (t) => {
  const url = await (await vectorServer()).createDatabase(t)
  t.deepEqual(await largeScope(url), { first: true, last: true, missing: 1 })
})
