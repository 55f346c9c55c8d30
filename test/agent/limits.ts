/**
 * `npm run test:limits`: Claude Code's command line, headless, at the gateway's caps, at a model's window, and with the
 * gateway's models. Not a part of `npm test`: the package weighs 360 MB and is installed on demand. Codex's limits are among
 * the cases of `npm run test:codex`.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { type JsonObject, valueAt } from '../support/json.ts'
import { openProviderFixture, type ScenarioScripts } from '../support/provider-fixture.ts'
import { CLAUDE_CODE, installClaudeCode } from './claude-code.ts'

const LONGEST_RUN_MS = 90_000
const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
/** Claude Code takes a token with this audience for that of a gateway, and reads limits; its signature it does not check. */
const GATEWAY_TOKEN = `${encoded({ alg: 'none' })}.${encoded({ aud: 'claude-gateway', exp: 4_102_444_800 })}.none`
const WITH_KEY = { ANTHROPIC_API_KEY: 'any' }
const WITH_TOKEN = { ANTHROPIC_AUTH_TOKEN: GATEWAY_TOKEN }
/** A cap of which one request of Claude Code takes 82 %. */
const NEARLY_FULL = 'cost-guard?per_day=0.15'
const FULL = 'cost-guard?per_day=0.000001'
const SHORT: ScenarioScripts = { anthropic: { kind: 'answer', content: [{ type: 'text', text: 'Done.' }] } }

interface Case {
  readonly name: string
  readonly prompts?: readonly string[]
  readonly model?: string
  readonly pipe?: string
  readonly env: Readonly<Record<string, string>>
  readonly scripts?: ScenarioScripts
  /** Asserts what the user sees: the events of all sessions, and the calls of providers. */
  check(seen: { events: JsonObject[]; calls: number; home: string }): void
}

const CASES: readonly Case[] = [
  {
    name: 'with a key, a cap’s refusal ends the turn after one request, with its text',
    pipe: FULL,
    env: WITH_KEY,
    check({ events, calls }) {
      assert.equal(calls, 0)
      assert.match(
        shown(events),
        /^API Error: Request rejected \(429\) · Of \$0\.000001 a day for this key, .* Resets at /,
      )
    },
  },
  {
    name: 'with a gateway’s token, a cap’s refusal is its text alone, and the limit is reached',
    pipe: FULL,
    env: WITH_TOKEN,
    check({ events, calls }) {
      assert.equal(calls, 0)
      assert.match(shown(events), /^Of \$0\.000001 a day for this key, .* Resets at /)
      const limit = limitIn(events)
      assert.equal(limit?.status, 'rejected')
      assert.deepEqual(limit.memberSpendLimit, { period: 'daily' })
    },
  },
  {
    name: 'with a gateway’s token, a cap that is nearly full is a warning',
    pipe: NEARLY_FULL,
    env: WITH_TOKEN,
    scripts: SHORT,
    check({ events, calls }) {
      assert.equal(calls, 1)
      const limit = limitIn(events)
      assert.equal(limit?.status, 'allowed_warning')
      assert.equal(limit.surpassedThreshold, 0.75)
      assert.ok(Number(limit.utilization) >= 0.75)
    },
  },
  {
    name: 'a conversation beyond the window of another provider’s model is compacted, and continues',
    prompts: ['Say one.', 'Say two.', 'Say three.'],
    model: 'claude-via-openai',
    env: WITH_KEY,
    scripts: {
      openai: (nth) => (nth === 3 ? { kind: 'error', status: 400, message: 'Too many input tokens.' } : undefined),
    },
    check({ events }) {
      assert.ok(events.some((event) => event.compact_result === 'success'))
      assert.equal(valueAt(events.at(-1), 'is_error'), false)
    },
  },
  {
    name: 'the gateway’s models with Claude in their names are offered',
    env: { ...WITH_KEY, CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '' },
    scripts: SHORT,
    check({ home }) {
      const file = path.join(home, '.claude/cache/gateway-models.json')
      const ids = (valueAt(JSON.parse(readFileSync(file, 'utf8')), 'models') as JsonObject[]).map(({ id }) => id)
      assert.ok(ids.includes('claude-via-openai') && ids.includes('claude-sonnet-4-5'), String(ids))
      assert.ok(!ids.includes('gpt-4o'))
    },
  },
]

installClaudeCode()
await using fixture = await openProviderFixture({
  config: {
    plugins: { 'cost-guard': { client_limits: true } },
    providers: { tries: 1 },
    models: { 'claude-via-openai': 'openai/gpt-4o' },
  },
  env: { SVC_PIPELINE: 'none' },
})
const words = process.argv.slice(2).join(' ')
let failed = 0
for (const each of CASES) if (each.name.includes(words) && !(await run(each))) failed++
process.exitCode = failed === 0 ? 0 : 1

async function run(each: Case): Promise<boolean> {
  const { name, prompts = ['Say it.'], scripts = {}, check } = each
  const home = mkdtempSync(path.join(tmpdir(), 'turnpike-limits-'))
  try {
    const scenario = fixture.scenario(scripts)
    const events: JsonObject[] = []
    for (const [index, prompt] of prompts.entries())
      events.push(...(await session(each, { home, prompt, isFirst: index === 0, headers: scenario.headers })))
    const calls = [...scenario.seen('anthropic'), ...scenario.seen('openai')].filter(({ method }) => method === 'POST')
    check({ events, calls: calls.length, home })
    console.log(`ok      ${name}`)
    return true
  } catch (error) {
    console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : error}`)
    return false
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

interface Session {
  readonly home: string
  readonly prompt: string
  readonly isFirst: boolean
  readonly headers: Readonly<Record<string, string>>
}

/** Runs one session, or continues it; resolves with its events. */
async function session(
  { model = 'claude-sonnet-4-5', pipe, env }: Case,
  { home, prompt, isFirst, headers }: Session,
): Promise<JsonObject[]> {
  const all = { ...headers, ...(pipe !== undefined && { 'x-svc-pipe': pipe }) }
  const options = ['--model', model, '--output-format', 'stream-json', '--verbose', ...(isFirst ? [] : ['--continue'])]
  const agent = spawn(CLAUDE_CODE, ['-p', prompt, ...options], {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      ANTHROPIC_BASE_URL: fixture.gateway.url,
      ANTHROPIC_CUSTOM_HEADERS: Object.entries(all)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: LONGEST_RUN_MS,
  })
  const lines = (await text(agent.stdout)).split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line) => JSON.parse(line) as JsonObject)
}

/** Returns the text of the last message. */
function shown(events: readonly JsonObject[]): string {
  return String(
    valueAt(
      events.findLast(({ type }) => type === 'assistant'),
      'message.content.0.text',
    ),
  )
}

/** Returns the first state of the limits that Claude Code reports. */
function limitIn(events: readonly JsonObject[]): JsonObject | undefined {
  return events.find(({ type }) => type === 'rate_limit_event')?.rate_limit_info as JsonObject | undefined
}
