import test from 'ava'
import { isDrill, sampled } from '../support/drill.ts'
import { openFixtureWith } from '../support/fixture.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { send } from '../support/http-client.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'
import { cpuMs, hasProcessFacts } from '../support/process-facts.ts'
import { HOSTILE_BODIES } from './hostile-bodies.ts'

/*
 * Half a megabyte of each shape to all modules, and every second one to one of the other targets. `npm run drill:shapes`
 * sends a megabyte of each shape to all targets, and `npm run drill:bodies` thirty. Work is counted as CPU, of which a slow
 * machine needs more: linear work takes a tenth of this, and the faults found took eight seconds a megabyte, so two for
 * half of one.
 */

const MB = 1024 * 1024
const SIZE = isDrill ? MB : MB / 2
const MOST_CPU_MS = isDrill ? 2000 : 1000
/** The same on a slow machine, in times of the reference's work. */
const MOST_REFERENCES = 10
const REFERENCE = HOSTILE_BODIES['content: small and valid']
const MOST_REPLY_BYTES = 20_000
const ALL_MODULES = { path: '/v1/messages', pipe: FULL_PIPELINE }
const TARGETS = [
  { path: '/v1/messages', pipe: 'none' },
  { path: '/v1/chat/completions', pipe: 'none' },
  { path: '/v1/chat/completions', pipe: FULL_PIPELINE },
  { path: '/v1/messages/count_tokens', pipe: 'none' },
]
const LONG_MB = isDrill ? 30 : 2
/** A linear reading takes 60 to 500 ms, by the machine and its load; one that reads a text again for each line takes minutes. */
const MOST_CPU_MS_PER_MB = 1500

const fixture = await openFixtureWith(startGatewayProcess, { provider: { acceptAnything: true } })
test.after.always(() => fixture.close())
let mostCpuMs = MOST_CPU_MS

test.serial.before('the work for a usual body is known', async (t) => {
  if (!hasProcessFacts) return
  const ask = (bytes: number) => {
    const headers = { 'x-svc-pipe': FULL_PIPELINE }
    return send(fixture.gateway.url, { body: Buffer.from(REFERENCE?.(bytes) ?? ''), headers })
  }
  // The first loads and compiles; another size, so that no cache answers.
  t.is((await ask(SIZE - MB / 16)).status, 200)
  const before = cpuMs(fixture.gateway.pid)
  t.is((await ask(SIZE)).status, 200)
  mostCpuMs = Math.max(MOST_CPU_MS, MOST_REFERENCES * (cpuMs(fixture.gateway.pid) - before))
})

for (const [index, [shape, make]] of Object.entries(HOSTILE_BODIES).entries())
  test.serial(`hostile bodies: ${shape}: little work and few words`, async (t) => {
    const body = Buffer.from(make(SIZE))
    for (const { path, pipe } of [ALL_MODULES, ...sampled(TARGETS, index % (2 * TARGETS.length))]) {
      const before = hasProcessFacts ? cpuMs(fixture.gateway.pid) : 0
      const reply = await send(fixture.gateway.url, { path, body, headers: { 'x-svc-pipe': pipe } })
      const where = `${path} ${pipe}: ${reply.status} ${reply.text.slice(0, 200)}`
      t.true([200, 400].includes(reply.status), where)
      t.true(reply.status === 200 || reply.body.length < MOST_REPLY_BYTES, where)
      if (!hasProcessFacts) continue
      const usedMs = cpuMs(fixture.gateway.pid) - before
      t.true(usedMs < mostCpuMs, `${where}: ${usedMs} of ${mostCpuMs} ms of CPU`)
    }
  })

for (const shape of ['text: short lines', 'text: short escapes', 'text: JSON in a tool’s result'])
  test.serial(`hostile bodies: ${shape}: many megabytes in the full pipeline are not superlinear`, async (t) => {
    const body = Buffer.from(HOSTILE_BODIES[shape]?.(LONG_MB * MB) ?? '')
    const before = hasProcessFacts ? cpuMs(fixture.gateway.pid) : 0
    const reply = await send(fixture.gateway.url, {
      body,
      headers: { 'x-svc-pipe': FULL_PIPELINE },
      timeoutMs: 120_000,
    })
    t.is(reply.status, 200, reply.text.slice(0, 200))
    if (!hasProcessFacts) return
    const usedMs = cpuMs(fixture.gateway.pid) - before
    t.true(usedMs < MOST_CPU_MS_PER_MB * LONG_MB, `${usedMs} ms of CPU`)
  })
