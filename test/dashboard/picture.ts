/**
 * `npm run docs:picture`: takes the picture of the dashboard's overview in the README, `docs/pictures/dashboard.png`. A
 * gateway with stand-ins for three providers answers a day's requests, whose hours are made by moving the clock.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startBrowser } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { startGemini } from '../support/stand-in-gemini.ts'
import { startOpenAI } from '../support/stand-in-openai.ts'
import { startProvider } from '../support/stand-in-provider.ts'

const PICTURE = 'docs/pictures/dashboard.png'
const HOUR_MS = 3_600_000
/** Requests of each hour, the latest last; hours before the range of a day warm the gateway up. */
const WARM_UP = 40
const BY_HOUR = [0, 0, 1, 2, 3, 5, 6, 8, 9, 7, 8, 9, 10, 9, 7, 6, 4, 3, 4, 3, 2, 2]
const MODELS = ['claude-sonnet-4-5', 'claude-opus-4-8', 'claude-haiku-4-5', 'openai/gpt-5-mini', 'gemini-2.5-flash']
const SHARES = [0, 0, 0, 1, 2, 2, 3, 4]
const SENTENCE = 'The service reads an event, checks its signature and writes one row. '
const FLUSHED_MS = 2500

const [anthropic, openai, gemini] = await Promise.all([
  startProvider({ acceptAnything: true }),
  startOpenAI(),
  startGemini(),
])
const gateway = await startGateway({
  ANTHROPIC_BASE_URL: anthropic.url,
  ANTHROPIC_API_KEY: 'sk-ant-x',
  OPENAI_BASE_URL: `${openai.url}/v1`,
  OPENAI_API_KEY: 'sk-x',
  GEMINI_BASE_URL: gemini.url,
  GEMINI_API_KEY: 'x',
  SVC_PIPELINE: 'exact-cache,compress,cost-guard',
})
const now = Date.now.bind(Date)
let backMs = 0
Date.now = () => now() - backMs
let seed = 7
let last = ''

for (let sent = 0; sent < WARM_UP; sent++) await ask(2 * BY_HOUR.length)
for (const [index, requests] of BY_HOUR.entries())
  for (let sent = 0; sent < requests; sent++) await ask(BY_HOUR.length - 1 - index)
backMs = 0
await sleep(FLUSHED_MS) // telemetry has written its last rows
const browser = await startBrowser()
const overview = await browser.open(gateway.url, { colorScheme: 'light' })
await overview.page.getByText('openai/gpt-5-mini').waitFor()
await overview.page.screenshot({ path: PICTURE })
console.log(`wrote ${PICTURE}`)
await overview[Symbol.asyncDispose]()
await browser.close()
await gateway.stop()
await Promise.all([anthropic.close(), openai.close(), gemini.close()])

/** Sends a request of `hoursAgo`; two in five repeat the one before, which the cache answers. */
async function ask(hoursAgo: number): Promise<void> {
  backMs = hoursAgo * HOUR_MS
  if (last === '' || draw(5) > 1)
    last = JSON.stringify({
      model: MODELS[SHARES[draw(SHARES.length)] ?? 0],
      max_tokens: 900,
      stream: draw(2) === 0,
      messages: [{ role: 'user', content: `${SENTENCE.repeat(draw(6) * 40)}Which test is missing? ${seed}` }],
    })
  const headers = { 'content-type': 'application/json', authorization: 'Bearer any' }
  const reply = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body: last })
  await reply.text()
}

/** A whole number below `count`; the same sequence each time. */
function draw(count: number): number {
  seed = (seed * 48_271) % 2_147_483_647
  return Math.floor((seed / 2_147_483_647) * count)
}
