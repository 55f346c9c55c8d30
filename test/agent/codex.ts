/**
 * `npm run test:codex`: Codex's command line in front of a stand-in of every kind of provider, headless: text, tools, patches,
 * parallel calls, a resumed session, compactions, an overloaded provider, caps, WebSockets. Each case names the files that
 * must be on disk and how often the provider may be called; words after the command select cases by their names. Not a part
 * of `npm test`: the package weighs 400 MB and is installed on demand.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { codexConfig } from '../../src/cli/codex/config-text.ts'
import { hear } from '../clients/matrix/heard.ts'
import { says } from '../clients/matrix/said.ts'
import { eventually } from '../support/eventually.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import {
  MODELS,
  openProviderFixture,
  PROVIDERS,
  type ProviderName,
  type ProviderScenario,
  type ScenarioScripts,
} from '../support/provider-fixture.ts'
import { CODEX_CASES, type CodexCase } from './codex-cases.ts'

const PACKAGE = '@openai/codex@0.169.0'
const FOLDER = path.resolve('node_modules/.cache/codex')
/** Names in Codex's catalogue, where the model has another there: what Codex does not find, it knows nothing of. */
const LISTED: Partial<Record<ProviderName, string>> = { anthropic: 'claude-sonnet-4-5' }
const LONGEST_RUN_MS = 60_000
const KINDS: readonly ProviderName[] = [...PROVIDERS, 'responder']
const OVERLOADED = { message: 'Overloaded', headers: { 'retry-after': '0' } }

installCodex()
await using fixture = await openProviderFixture({
  config: { plugins: { 'cost-guard': { client_limits: true } } },
  env: { SVC_PIPELINE: 'none' },
})
const words = process.argv.slice(2).join(' ')
let passed = 0
let failed = 0
for (const provider of KINDS)
  for (const each of CODEX_CASES) {
    const { only = KINDS, name } = each
    if (!only.includes(provider) || !`${provider}: ${name}`.includes(words)) continue
    if (await run(provider, each)) passed++
    else failed++
  }
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

/** Runs a case in front of a provider; resolves with false where it fails. */
async function run(provider: ProviderName, each: CodexCase): Promise<boolean> {
  const home = mkdtempSync(path.join(tmpdir(), 'turnpike-codex-'))
  const cwd = mkdtempSync(path.join(tmpdir(), 'turnpike-codex-work-'))
  const logged = fixture.gateway.log().length
  try {
    const scenario = fixture.scenario(scriptOf(provider, each))
    writeFileSync(path.join(home, 'config.toml'), configOf(provider, each, scenario))
    for (const prompt of each.prompts) {
      const isFirst = prompt === each.prompts[0]
      const isCalled = () => callsOf(scenario, provider).length > 0
      const stop = each.isAborted && isFirst ? isCalled : undefined
      const events = await codex({ home, cwd, stop }, prompt, !isFirst)
      if (stop === undefined) check(isFirst ? each : {}, events)
    }
    assert.deepEqual(filesIn(cwd), each.files ?? {})
    const calls = callsOf(scenario, provider)
    if (each.isOverSocket) assert.match(fixture.gateway.log().slice(logged), /"status":101/)
    assert.equal(calls.length, each.calls, 'calls of the provider')
    const last = hear(provider, calls.at(-1))
    for (const said of each.heard ?? []) assert.ok(JSON.stringify(last).includes(said), `the provider heard: ${said}`)
    if (each.keeps !== undefined) assert.ok(sessionIn(home).includes(each.keeps), `the session has: ${each.keeps}`)
    console.log(`ok      ${provider}: ${each.name}`)
    return true
  } catch (error) {
    console.log(`FAILED  ${provider}: ${each.name}: ${error instanceof Error ? error.message : error}`)
    return false
  } finally {
    for (const folder of [home, cwd]) rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the calls of a model; lists of models are queried besides. */
function callsOf(scenario: ProviderScenario, provider: ProviderName) {
  return scenario.seen(provider).filter(({ method }) => method === 'POST')
}

function scriptOf(provider: ProviderName, { turns, isOverloaded, refusal }: CodexCase): ScenarioScripts {
  // OpenAI's chat completions keep their reasoning.
  const shown = provider === 'openai' ? turns.map(({ reasoning: _, ...said }) => said) : turns
  const status = provider === 'anthropic' ? 529 : 503
  const { [provider]: script } = says(provider, shown, isOverloaded ? { ...OVERLOADED, status } : refusal)
  // A list of models is no turn.
  const answer = (nth: number, request: SeenRequest) =>
    typeof script === 'function' && request.method === 'POST' ? script(nth, request) : undefined
  return { [provider]: answer }
}

/** The configuration that `turnpike codex` prints, with the case's own lines. */
function configOf(
  provider: ProviderName,
  { settings = '', pipe, compactsRemotely = false, isOverSocket = false }: CodexCase,
  { headers }: ProviderScenario,
): string {
  const all = { ...headers, ...(pipe !== undefined && { 'x-svc-pipe': pipe }) }
  const pairs = Object.entries(all).map(([name, value]) => `"${name}" = ${JSON.stringify(value)}`)
  const { url } = fixture.gateway
  const config = codexConfig({
    url,
    model: LISTED[provider] ?? MODELS[provider],
    keyVariable: 'TURNPIKE_KEY',
    compactsRemotely,
  })
  return `${settings}\n${config}supports_websockets = ${isOverSocket}\nhttp_headers = { ${pairs.join(', ')} }\n`
}

/** Asserts that the session ended as the case expects. */
function check({ ends = 'turn.completed', shows = '' }: Partial<CodexCase>, events: string): void {
  const last = events.split('\n').findLast((line) => line.includes('"type":"turn.'))
  assert.ok(last?.includes(ends), events.slice(-600))
  assert.ok(events.includes(shows), `the user sees: ${shows}; ${events.slice(-600)}`)
}

/** Returns the sessions that Codex has kept. */
function sessionIn(home: string): string {
  const folder = path.join(home, 'sessions')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
  return files.map((name) => readFileSync(path.join(folder, name), 'utf8')).join('')
}

/** Folders of a run, and the condition after which the user aborts it. */
interface Run {
  readonly home: string
  readonly cwd: string
  readonly stop: (() => boolean) | undefined
}

/** Runs Codex headless; resolves with its events. */
async function codex({ home, cwd, stop }: Run, prompt: string, resumes: boolean): Promise<string> {
  const options = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--json']
  const command = resumes ? ['exec', 'resume', '--last', ...options, prompt] : ['exec', ...options, prompt]
  const agent = spawn(path.join(FOLDER, 'node_modules/.bin/codex'), command, {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, TURNPIKE_KEY: 'any' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: LONGEST_RUN_MS,
  })
  const events = text(agent.stdout)
  if (stop !== undefined) {
    await eventually(stop, 'the provider is called')
    agent.kill('SIGINT')
  }
  return events
}

function filesIn(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]))
}

function installCodex(): void {
  if (existsSync(path.join(FOLDER, 'node_modules/.bin/codex'))) return
  console.log(`installing ${PACKAGE} into ${path.relative('.', FOLDER)}`)
  const { status } = spawnSync('npm', ['install', '--prefix', FOLDER, '--no-save', PACKAGE], { stdio: 'inherit' })
  if (status !== 0) throw new Error(`${PACKAGE} cannot be installed here`)
}
