import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { startGatewayProcess } from './gateway-process.ts'
import { send } from './http-client.ts'
import { valueAt } from './json.ts'

const SERVER = `
  import { createServer } from 'node:http'
  console.log('starting', process.argv[2])
  const server = createServer((_, response) => response.end(JSON.stringify(process.env)))
  server.listen(process.env.PORT, process.env.HOST, () => console.log(JSON.stringify(server.address())))
`

/** Writes an entry file with this code, removed with the test. */
function writeEntry(t: ExecutionContext, code: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-entry-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const entry = path.join(folder, 'entry.mjs')
  writeFileSync(entry, code)
  return entry
}

test('gateway helper: starts, logs, passes the environment, and leaves nothing behind', async (t) => {
  process.env.TURNPIKE_TEST_SECRET = 'must not be inherited'
  const gateway = await startGatewayProcess({ SVC_MODE: 'local' }, { entry: writeEntry(t, SERVER) })
  t.teardown(gateway.stop)
  const { json } = await send(gateway.url, { method: 'GET', path: '/env' })
  const folder = String(valueAt(json, 'SVC_DATA_DIR'))
  t.like(json, { SVC_MODE: 'local', LOG_LEVEL: 'info', PORT: '0', TURNPIKE_TEST_SECRET: undefined })
  t.true(existsSync(folder))
  t.regex(gateway.log(), /starting start/)
  t.deepEqual(await gateway.stop(), { code: null, signal: 'SIGTERM' })
  t.false(existsSync(folder))
  t.throws(() => process.kill(gateway.pid, 0), { code: 'ESRCH' })
})

test('gateway helper: kills a process that ignores SIGTERM', async (t) => {
  const entry = writeEntry(t, `process.on('SIGTERM', () => {})\n${SERVER}`)
  const gateway = await startGatewayProcess({}, { entry })
  t.deepEqual(await gateway.stop(50), { code: null, signal: 'SIGKILL' })
})

test('gateway helper: reports the log of a process that exits', async (t) => {
  const entry = writeEntry(t, `console.error('no such option: SVC_MODEL'); process.exit(3)`)
  await t.throwsAsync(startGatewayProcess({}, { entry }), {
    message: /exited.*"code":3[\s\S]*no such option: SVC_MODEL/,
  })
})

test('gateway helper: gives up on a process that does not answer /health', async (t) => {
  const entry = writeEntry(t, `console.log('busy'); setInterval(() => {}, 1000)`)
  const starting = startGatewayProcess({}, { entry, waitMs: 400 })
  await t.throwsAsync(starting, { message: /did not answer \/health within 400 ms[\s\S]*busy/ })
})
