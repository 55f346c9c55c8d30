import { readFileSync, writeFileSync } from 'node:fs'
import test from 'ava'
import { openAgentFixtureWith } from '../payments/agent-fixture.ts'
import { isDrill, sampled } from '../support/drill.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { valueAt } from '../support/json.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'
import { hasProcessFacts } from '../support/process-facts.ts'

/*
 * Bodies in which everything is wrong, tiny or one too many. A refusal costs no more than reading the body: the peak of
 * the gateway's memory may grow by 8 bytes for each byte sent. A megabyte goes to one of the routes and four megabytes to
 * another, others for each shape; `npm run drill:shapes` sends 30 MB to all.
 */

const agentFixture = await openAgentFixtureWith(startGatewayProcess)
test.after.always(() => agentFixture.close())

const MB = 1024 * 1024
const LARGE_BYTES = (isDrill ? 30 : 4) * MB
const BYTES_PER_BYTE = 8
/** Memory that a process takes whatever the body. */
const SPARE_MB = 32
/** Measurements, of which one has to be within the bound: on a busy machine a collection of garbage may be late. */
const TIMES = 3
const ROUTES = ['/v1/messages', '/v1/messages/count_tokens', '/v1/chat/completions']
const ALL_ROUTES = [...ROUTES, '/v1/agent/messages', '/v1/agent/quote']

const HEAD = '"model":"claude-sonnet-4-5","max_tokens":9'
const inContent = (list: string) => `{${HEAD},"messages":[{"role":"user","content":[${list}]}]}`
const inMessages = (list: string) => `{${HEAD},"messages":[${list}]}`
const HELLO = '{"role":"user","content":"hi"}'
const repeated = (piece: string, bytes: number) =>
  Array(Math.floor(bytes / (piece.length + 1)))
    .fill(piece)
    .join(',')
/** As many as a list may have, so that the code after the scan gets them. */
const allowed = (piece: string, values: number) =>
  Array(Math.floor(240_000 / values))
    .fill(piece)
    .join(',')

const SHAPES: Record<string, (bytes: number) => string> = {
  'content of numbers': (bytes) => inContent(repeated('0', bytes)),
  'messages that are numbers': (bytes) => inMessages(repeated('0', bytes)),
  'empty messages': (bytes) => inMessages(repeated('{}', bytes)),
  'tools that are numbers': (bytes) => `{${HEAD},"messages":[${HELLO}],"tools":[${repeated('0', bytes)}]}`,
  'stop sequences that are numbers': (bytes) =>
    `{${HEAD},"messages":[${HELLO}],"stop_sequences":[${repeated('0', bytes / 2)}],"stop":[${repeated('0', bytes / 2)}]}`,
  'blocks without texts': (bytes) => inContent(repeated('{"type":"text"}', bytes)),
  'messages of no role': (bytes) => inMessages(repeated('{"role":"x","content":"a"}', bytes)),
  'empty lists as the input of a call': (bytes) =>
    inContent(`{"type":"tool_use","id":"a","name":"b","input":{"a":[${repeated('[]', bytes)}]}}`),
  'small fields': (bytes) =>
    `{${HEAD},"messages":[],${Array.from({ length: bytes / 16 }, (_, i) => `"f${i}":0`).join(',')}}`,
  'duplicate fields': (bytes) => `{${HEAD},"messages":[],${repeated('"a":0', bytes)}}`,
  'names of members': (bytes) =>
    inContent(`{"type":"x",${Array.from({ length: bytes / 16 }, (_, i) => `"f${i}":0`).join(',')}}`),
  'as many wrong blocks as may be': () => inContent(allowed('{"type":"text","text":5}', 3)),
  'as many wrong messages as may be': () => inMessages(allowed('{"role":"user","content":5}', 3)),
  'as many wrong tools as may be': () =>
    `{${HEAD},"messages":[${HELLO}],"tools":[${Array(9_999).fill('{"name":5}').join(',')}]}`,
  'as many blocks of no type as may be': () => inContent(allowed('{"name":"a","text":5}', 3)),
  'wrong arguments of a call': (bytes) =>
    inMessages(
      `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\\"a\\":[${repeated('{}', bytes)}]}"}}]}`,
    ),
}

const processFile = (name: string) => `/proc/${agentFixture.fixture.gateway.pid}/${name}`
/** The peak of the process's memory; `NaN` where the system does not report it. */
function peakMb(): number {
  if (!hasProcessFacts) return Number.NaN
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(processFile('status'), 'utf8'))?.[1]) / 1024
}
/** Begins a new measurement of the peak (proc(5), `clear_refs`), and returns what it begins with. */
function beginPeak(): number {
  if (hasProcessFacts) writeFileSync(processFile('clear_refs'), '5')
  return peakMb()
}

// The first bodies of a process also grow its heap, and compile the code that reads them.
test.before('warm up', async () => {
  const body = inContent(repeated('0', MB))
  for (const path of ALL_ROUTES)
    await agentFixture.agent().send({ path, body, headers: { 'x-api-key': 'k', 'x-svc-pipe': FULL_PIPELINE } })
})

for (const [index, [what, make]] of Object.entries(SHAPES).entries())
  test.serial(`all wrong: ${what} are refused, and cost memory in proportion to their bytes`, async (t) => {
    const agent = agentFixture.agent()
    for (const [bytes, paths] of [
      [MB, sampled(ALL_ROUTES, (index + 2) % ALL_ROUTES.length)],
      [LARGE_BYTES, sampled(ROUTES, index % ROUTES.length)],
    ] as const) {
      const body = Buffer.from(make(bytes))
      for (const path of paths) {
        const most = SPARE_MB + (BYTES_PER_BYTE * body.length) / MB
        for (let times = 1; ; times++) {
          const before = beginPeak()
          const reply = await agent.send({ path, body, headers: { 'x-api-key': 'k', 'x-svc-pipe': FULL_PIPELINE } })
          const grown = peakMb() - before
          const place = `${path}, ${body.length} bytes: ${reply.status} ${reply.text.slice(0, 200)}`
          t.true([400, 413].includes(reply.status), place)
          t.true(reply.body.length < 2000, place)
          t.is(valueAt(reply.json, 'error.type'), 'invalid_request')
          if (!(grown > most)) break
          t.true(times < TIMES, `${place}: ${grown.toFixed()} MB more`)
        }
      }
    }
    t.is(agent.calls(), 0)
  })
