// `node bench/holds.ts`: share of a cap that agents have spent at the first refusal.
//
//   10 agents, each max_tokens 32,000, answers of 800 ──► gateway (cap $2.50 a day) ──► stand-in
//
// Compared are our holds with the common ones, which reserve what the request may cost at most: the guard with `clamp`
// off and answers in one piece does that. A cap is useless long before it is reached where the first refusal comes early.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startGatewayProcess } from '../test/support/gateway-process.ts'
import { send } from '../test/support/http-client.ts'
import { startProvider } from '../test/support/stand-in-provider.ts'

const CAP_USD = 2.5
const AGENTS = 10
const WANTED_TOKENS = 32_000
const USED_TOKENS = 800
const MOST_REQUESTS = 2000
const TEXT = 'several plain words of English text '.repeat(90)
const NANO_PER_USD = 1e9
/** Cost at the stand-in's model: $3 and $15 per million. */
const COST_USD = (10 * 3000 + USED_TOKENS * 15_000) / NANO_PER_USD

interface Policy {
  readonly label: string
  readonly stream: boolean
  readonly clamp: boolean
}

const policies: readonly Policy[] = [
  { label: 'ours, streams: the usual, growing', stream: true, clamp: true },
  { label: 'ours, answers in one piece: lowered', stream: false, clamp: true },
  { label: 'the worst case', stream: false, clamp: false },
]

/** Returns the replies admitted before the first refusal, and the share of the cap that they cost. */
async function measure({ stream, clamp }: Policy): Promise<{ admitted: number; share: number }> {
  await using owned = new AsyncDisposableStack()
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-bench-'))
  owned.defer(() => rmSync(folder, { recursive: true, force: true }))
  const usage = { input_tokens: 10, output_tokens: USED_TOKENS }
  const writes = { sizes: [2000], between: { delayMs: 1 } }
  const provider = owned.use(await startProvider({ script: { kind: 'answer', text: TEXT, usage, writes } }))
  const config = path.join(folder, 'turnpike.yaml')
  writeFileSync(config, JSON.stringify({ plugins: { 'cost-guard': { clamp, per_day: CAP_USD } } }))
  const env = {
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'x',
    SVC_CONFIG: config,
    SVC_PIPELINE: 'cost-guard',
  }
  const gateway = owned.use(await startGatewayProcess(env))
  const body = {
    model: 'claude-sonnet-4-5',
    max_tokens: WANTED_TOKENS,
    stream,
    messages: [{ role: 'user', content: 'Go on.' }],
  }
  let admitted = 0
  let isRefused = false
  const agent = async () => {
    while (!isRefused && admitted < MOST_REQUESTS) {
      const { status } = await send(gateway.url, { body })
      if (status === 200) admitted++
      else if (status === 429) isRefused = true
      else throw new Error(`Expected 200 or 429, got ${status}.`)
    }
  }
  await Promise.all(Array.from({ length: AGENTS }, agent))
  return { admitted, share: (admitted * COST_USD) / CAP_USD }
}

console.log(`| hold | answers until the first refusal | of the cap |\n| --- | --- | --- |`)
for (const policy of policies) {
  const { admitted, share } = await measure(policy)
  console.log(`| ${policy.label} | ${admitted} | ${(100 * share).toFixed(0)} % |`)
}
