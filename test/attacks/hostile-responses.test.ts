import test from 'ava'
import { isDrill } from '../support/drill.ts'
import { openFixtureWith } from '../support/fixture.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { send } from '../support/http-client.ts'
import { cpuMs, hasProcessFacts } from '../support/process-facts.ts'

/*
 * Responses requests of many tiny items, whose translation gathers them into messages. Work is counted as CPU, which a busy
 * machine does not change: linear work takes a quarter of this, and the fault found took six seconds for the items of a
 * drill, a quarter of that for half of them.
 */

const ITEMS = isDrill ? 40_000 : 20_000
const MOST_CPU_MS = isDrill ? 2000 : 1000
/** Ids whose comparison reads them to their end. */
const PREFIX = 'x'.repeat(230)

const items = (item: (index: number) => object) => Array.from({ length: ITEMS }, (_, index) => item(index))
const output = (index: number) => ({ type: 'function_call_output', call_id: `${PREFIX}${index}`, output: '1' })

const BODIES: Readonly<Record<string, object>> = {
  'results without calls': { input: [{ role: 'user', content: 'go' }, ...items(output)] },
  'messages of the user in a row': { input: items(() => ({ role: 'user', content: 'a' })) },
  'messages of the assistant in a row': {
    input: [{ role: 'user', content: 'go' }, ...items(() => ({ role: 'assistant', content: 'a' }))],
  },
  'messages of the developer in a row': {
    input: [{ role: 'user', content: 'go' }, ...items(() => ({ role: 'developer', content: 'a' }))],
  },
  'calls that were cut': {
    input: [
      { role: 'user', content: 'go' },
      ...items((index) => ({ type: 'function_call', call_id: `c${index}`, name: 'f', arguments: '{' })),
    ],
  },
  'lists of tools among the items': {
    input: [
      { role: 'user', content: 'go' },
      ...items((index) => ({ type: 'additional_tools', tools: [{ type: 'function', name: `f${index}` }] })),
    ],
  },
}

const fixture = await openFixtureWith(startGatewayProcess, { provider: { acceptAnything: true } })
test.after.always(() => fixture.close())

for (const [shape, body] of Object.entries(BODIES))
  test.serial(`hostile responses: ${shape}: little work`, async (t) => {
    const before = hasProcessFacts ? cpuMs(fixture.gateway.pid) : 0
    const reply = await send(fixture.gateway.url, {
      path: '/v1/responses',
      body: { model: 'claude-sonnet-4-5', ...body },
      headers: { 'x-svc-pipe': 'none' },
      timeoutMs: 120_000,
    })
    t.is(reply.status, 200, reply.text.slice(0, 200))
    if (!hasProcessFacts) return
    const usedMs = cpuMs(fixture.gateway.pid) - before
    t.true(usedMs < MOST_CPU_MS, `${usedMs} ms of CPU`)
  })
