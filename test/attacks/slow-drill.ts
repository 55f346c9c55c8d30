/**
 * `npm run drill:slow`: senders that never finish, hundreds at once, by slowhttptest (Debian's package of that name). The
 * gateway must answer others meanwhile, and close each of them in time. A few by hand are in
 * `test/faults/slow-senders.test.ts`, which `npm test` runs.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openFixtureWith } from '../support/fixture.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { countOpenFiles } from '../support/process-facts.ts'

const CONNECTIONS = 500
const SECONDS = 20
const LONGEST_ANSWER_MS = 2000
const ATTACKS = {
  'slow headers': ['-H'],
  'slow bodies': ['-B', '-t', 'POST', '-s', '8192'],
  'slow readers': ['-X', '-w', '1', '-y', '8', '-n', '2', '-z', '8', '-k', '3'],
}

await using fixture = await openFixtureWith(startGatewayProcess, {
  config: { server: { header_timeout: '5s', body_timeout: '8s' } },
})
const filesBefore = countOpenFiles(fixture.gateway.pid)
for (const [name, options] of Object.entries(ATTACKS)) {
  const target = [
    '-u',
    `${fixture.gateway.url}/openapi.json`,
    '-c',
    String(CONNECTIONS),
    '-r',
    '200',
    '-l',
    String(SECONDS),
  ]
  const child = spawn('slowhttptest', [...options, ...target, '-i', '1', '-p', '3'], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  let slowestMs = 0
  let answered = 0
  for (const until = Date.now() + SECONDS * 1000; Date.now() < until; answered++) {
    const startedAtMs = performance.now()
    const { status } = await fixture.scenario().send({ body: ask(`question ${answered}`) })
    if (status !== 200) throw new Error(`${name}: a request was answered ${status}`)
    slowestMs = Math.max(slowestMs, performance.now() - startedAtMs)
    await sleep(200)
  }
  await ended
  await sleep(15_000) // header_timeout, body_timeout and the interval of the connections check
  const left = countOpenFiles(fixture.gateway.pid) - filesBefore
  const isHealthy = (await send(fixture.gateway.url, { method: 'GET', path: '/health' })).status === 200
  console.log(
    `${name}: ${answered} requests answered meanwhile, the slowest in ${slowestMs.toFixed()} ms; ${left} files more open after it, healthy: ${isHealthy}`,
  )
  if (slowestMs > LONGEST_ANSWER_MS || left > CONNECTIONS / 10) process.exitCode = 1
}
