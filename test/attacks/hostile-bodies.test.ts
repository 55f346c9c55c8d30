import test from 'ava'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { send } from '../support/http-client.ts'
import { cpuMs, hasProcessFacts } from '../support/process-facts.ts'
import { openStageWith } from '../support/stage.ts'
import { HOSTILE_BODIES } from './hostile-bodies.ts'

/*
 * A megabyte of each shape; `npm run drill:bodies` sends thirty. Work is counted as CPU, which a busy machine does not
 * change: what is linear takes a tenth of this, and what was found took eight seconds.
 */

const MB = 1024 * 1024
const MOST_CPU_MS = 2000
const MOST_REPLY_BYTES = 20_000
const FULL = 'exact-cache,semantic-cache,prune-tools,preserve,compress,patterns,cost-guard'
const TARGETS = [
  { path: '/v1/messages', pipe: 'none' },
  { path: '/v1/messages', pipe: FULL },
  { path: '/v1/chat/completions', pipe: 'none' },
  { path: '/v1/chat/completions', pipe: FULL },
  { path: '/v1/messages/count_tokens', pipe: 'none' },
]

const stage = await openStageWith(startGatewayProcess, { provider: { acceptAnything: true } })
test.after.always(() => stage.close())

for (const [shape, make] of Object.entries(HOSTILE_BODIES))
  test.serial(`hostile bodies: ${shape}: little work and few words on every route`, async (t) => {
    const body = Buffer.from(make(MB))
    for (const { path, pipe } of TARGETS) {
      const before = hasProcessFacts ? cpuMs(stage.gateway.pid) : 0
      const reply = await send(stage.gateway.url, { path, body, headers: { 'x-svc-pipe': pipe }, timeoutMs: 60_000 })
      const where = `${path} ${pipe}: ${reply.status} ${reply.text.slice(0, 200)}`
      t.true([200, 400].includes(reply.status), where)
      t.true(reply.status === 200 || reply.body.length < MOST_REPLY_BYTES, where)
      if (!hasProcessFacts) continue
      const usedMs = cpuMs(stage.gateway.pid) - before
      t.true(usedMs < MOST_CPU_MS, `${where}: ${usedMs} ms of CPU`)
    }
  })

for (const shape of ['text: short lines', 'text: short escapes', 'text: JSON in a tool’s result'])
  test.serial(`hostile bodies: ${shape}: thirty megabytes in the full pipeline are not superlinear`, async (t) => {
    const body = Buffer.from(HOSTILE_BODIES[shape]?.(30 * MB) ?? '')
    const before = hasProcessFacts ? cpuMs(stage.gateway.pid) : 0
    const reply = await send(stage.gateway.url, { body, headers: { 'x-svc-pipe': FULL }, timeoutMs: 120_000 })
    t.is(reply.status, 200, reply.text.slice(0, 200))
    if (!hasProcessFacts) return
    const usedMs = cpuMs(stage.gateway.pid) - before
    t.true(usedMs < 2 * MOST_CPU_MS, `${usedMs} ms of CPU`)
  })
