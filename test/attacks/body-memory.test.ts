import test, { type ExecutionContext } from 'ava'
import { ask, send } from '../support/http-client.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'
import { startProbed } from '../support/probed.ts'
import { forgetPeak, hasProcessFacts, peakBytes, residentBytes } from '../support/process-facts.ts'
import { startDrillProvider } from './drill-provider.ts'
import { HOSTILE_BODIES } from './hostile-bodies.ts'

/*
 * A body of which the full pipeline once kept most copies; `npm run drill:bodies` measures all shapes on all routes.
 * Memory is that of a fresh process, in which nothing is reused: the most that a body can take.
 */

const MB = 1024 * 1024
const BYTES = 30 * MB
const MOST_BYTES_PER_BYTE = 8
/** For code and a collector that has time, however small the body is. */
const SPARE_BYTES = 64 * MB
const WARMING = 60

/** A collector that came late adds to a peak, and nothing takes from it: the least of these counts. */
const MOST_PROCESSES = 8

test.serial('body memory: at most eight bytes a byte in the full pipeline, translated', async (t) => {
  if (!hasProcessFacts) return t.pass('no /proc: memory is not looked at')
  const provider = await startDrillProvider()
  t.teardown(() => provider.close())
  const body = Buffer.from(HOSTILE_BODIES['text: emoji']?.(BYTES) ?? '')
  const measured: number[] = []
  do measured.push(await bytesPerByte(t, provider.url, body))
  while (Math.min(...measured) > MOST_BYTES_PER_BYTE && measured.length < MOST_PROCESSES)
  t.true(Math.min(...measured) <= MOST_BYTES_PER_BYTE, `bytes a byte: ${measured}`)
})

/** Sends a body to a gateway of its own; returns by how many bytes a byte its memory grew at most. */
async function bytesPerByte(t: ExecutionContext, providerUrl: string, body: Buffer): Promise<number> {
  await using gateway = await startProbed({ ANTHROPIC_BASE_URL: providerUrl, ANTHROPIC_API_KEY: 'key' })
  const to = { path: '/v1/chat/completions', headers: { 'x-svc-pipe': FULL_PIPELINE } }
  for (let i = 0; i < WARMING; i++) await send(gateway.url, { ...to, body: ask(`question ${i}`) })
  const before = residentBytes(gateway.pid)
  forgetPeak(gateway.pid)
  const reply = await send(gateway.url, { ...to, body, timeoutMs: 120_000 })
  t.is(reply.status, 200, reply.text.slice(0, 200))
  return (peakBytes(gateway.pid) - before - SPARE_BYTES) / body.length
}
