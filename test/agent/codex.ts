/**
 * `npm run test:codex`: Codex's command line in front of a stand-in of every kind of provider, headless: text, tools, patches,
 * parallel calls, a resumed session, two compactions, an overloaded provider, a cap. Each case names the files that must be
 * on disk and how often the provider may be called. Not a part of `npm test`: the package weighs 400 MB and is installed on
 * demand.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { hear } from '../clients/matrix/heard.ts'
import { says } from '../clients/matrix/said.ts'
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
const LONGEST_RUN_MS = 60_000
const KINDS: readonly ProviderName[] = [...PROVIDERS, 'responder']
const OVERLOADED = { message: 'Overloaded', headers: { 'retry-after': '0' } }

installCodex()
await using fixture = await openProviderFixture({ env: { SVC_PIPELINE: 'none' } })
let failed = 0
for (const provider of KINDS) for (const each of CODEX_CASES) failed += await run(provider, each)
console.log(`${KINDS.length * CODEX_CASES.length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

/** Runs a case in front of a provider; resolves with 1 where it fails. */
async function run(provider: ProviderName, each: CodexCase): Promise<number> {
  const home = mkdtempSync(path.join(tmpdir(), 'turnpike-codex-'))
  const cwd = mkdtempSync(path.join(tmpdir(), 'turnpike-codex-work-'))
  try {
    const scenario = fixture.scenario(scriptOf(provider, each))
    writeFileSync(path.join(home, 'config.toml'), configOf(provider, each, scenario))
    for (const prompt of each.prompts) check(each, await codex({ home, cwd }, prompt, prompt !== each.prompts[0]))
    assert.deepEqual(filesIn(cwd), each.files ?? {})
    const calls = scenario.seen(provider)
    assert.equal(calls.length, each.calls, 'calls of the provider')
    const last = hear(provider, calls.at(-1))
    for (const said of each.heard ?? []) assert.ok(JSON.stringify(last).includes(said), `the provider heard: ${said}`)
    console.log(`ok      ${provider}: ${each.name}`)
    return 0
  } catch (error) {
    console.log(`FAILED  ${provider}: ${each.name}: ${error instanceof Error ? error.message : error}`)
    return 1
  } finally {
    for (const folder of [home, cwd]) rmSync(folder, { recursive: true, force: true })
  }
}

function scriptOf(provider: ProviderName, { turns, isOverloaded }: CodexCase): ScenarioScripts {
  // OpenAI's chat completions keep their reasoning.
  const shown = provider === 'openai' ? turns.map(({ reasoning: _, ...said }) => said) : turns
  const status = provider === 'anthropic' ? 529 : 503
  return says(provider, shown, isOverloaded ? { ...OVERLOADED, status } : undefined)
}

function configOf(provider: ProviderName, { settings = '', pipe }: CodexCase, { headers }: ProviderScenario): string {
  const all = { ...headers, ...(pipe !== undefined && { 'x-svc-pipe': pipe }) }
  const pairs = Object.entries(all).map(([name, value]) => `"${name}" = ${JSON.stringify(value)}`)
  return `model = "${MODELS[provider]}"
model_provider = "turnpike"
${settings}

[model_providers.turnpike]
name = "Turnpike"
base_url = "${fixture.gateway.url}/v1"
env_key = "TURNPIKE_KEY"
wire_api = "responses"
http_headers = { ${pairs.join(', ')} }
`
}

/** Asserts that the session ended as the case expects. */
function check({ ends = 'turn.completed' }: CodexCase, events: string): void {
  const last = events.split('\n').findLast((line) => line.includes('"type":"turn.'))
  assert.ok(last?.includes(ends), events.slice(-600))
}

/** Runs Codex headless; resolves with its events. */
async function codex({ home, cwd }: { home: string; cwd: string }, prompt: string, resumes: boolean): Promise<string> {
  const options = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--json']
  const command = resumes ? ['exec', 'resume', '--last', ...options, prompt] : ['exec', ...options, prompt]
  const agent = spawn(path.join(FOLDER, 'node_modules/.bin/codex'), command, {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, TURNPIKE_KEY: 'any' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: LONGEST_RUN_MS,
  })
  return text(agent.stdout)
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
