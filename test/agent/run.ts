/**
 * `npm run test:agent [-- <pipeline> [<part of a name>]]`: a coding agent's command line does thirty tasks against the gateway,
 * with a stand-in provider that plays the model, once through no pipeline and once through the full one, or the one that is
 * named. The same files must be on disk, and where `redact` runs, no secret of theirs may have reached the provider. Not a part of `npm test`: the agent's package weighs 360 MB and is installed on demand.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'
import { startProvider } from '../support/stand-in-provider.ts'
import { CLAUDE_CODE, installClaudeCode } from './claude-code.ts'
import { createFolder } from './folders.ts'
import { play, promptFor } from './player.ts'
import { SECRET_TASKS, type SecretTask } from './secret-tasks.ts'
import { TASKS, type Task } from './tasks.ts'

const LONGEST_RUN_MS = 120_000

installClaudeCode()
const home = mkdtempSync(path.join(tmpdir(), 'turnpike-agent-'))
process.on('exit', () => rmSync(home, { recursive: true, force: true }))
await using provider = await startProvider({ acceptAnything: true, script: play })
const [pipeline = FULL_PIPELINE, part = ''] = process.argv.slice(2)
const isGuarded = pipeline.includes('redact')
const tasks: readonly (Task & Partial<SecretTask>)[] = [...TASKS, ...SECRET_TASKS].filter(({ name }) =>
  name.includes(part),
)
await using plain = await startThrough('none')
await using full = await startThrough(pipeline)

const bytes = new Map<Gateway, number>()
let failed = 0
for (const task of tasks) {
  try {
    const [without, through] = [await filesAfter(plain, task), await filesAfter(full, task)]
    assert.deepEqual(through, without)
    console.log(`ok      ${task.name}: ${Object.keys(through).length} files`)
  } catch (error) {
    failed++
    console.log(`FAILED  ${task.name}: ${error instanceof Error ? error.message : error}`)
  }
}
console.log(
  `sent to the provider: ${bytes.get(plain)} bytes without a pipeline, ${bytes.get(full)} bytes with ${pipeline}`,
)
console.log(`${tasks.length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function startThrough(pipeline: string): Promise<Gateway> {
  return startGateway({ ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'provider-key', SVC_PIPELINE: pipeline })
}

/** Has the agent do a task; resolves with the files on disk. Rejects where the agent or one of its tools fails. */
async function filesAfter(gateway: Gateway, task: (typeof tasks)[number]): Promise<Record<string, string>> {
  using folder = createFolder(task)
  const before = provider.seen.length
  const initial = folder.files()
  const result = await runAgent(gateway, { prompt: promptFor(task.name, folder.path), cwd: folder.path })
  assert.equal(result.is_error, false, JSON.stringify(result))
  const calls = provider.seen.slice(before).filter(({ url }) => url.startsWith('/v1/messages?'))
  bytes.set(
    gateway,
    calls.reduce((sum, { raw }) => sum + raw.length, bytes.get(gateway) ?? 0),
  )
  assert.ok(calls.length > task.steps.length, `${calls.length} calls for ${task.steps.length} steps`)
  const error = calls
    .map(({ raw }) => /"content":"[^"]{0,400}","is_error":true/.exec(raw.toString())?.[0])
    .find(Boolean)
  assert.equal(error, undefined)
  assert.ok(calls.every(({ headers }) => headers['x-api-key'] === 'provider-key'))
  assert.notDeepEqual(folder.files(), initial)
  const sent = provider.seen.slice(before).map(({ raw }) => raw.toString())
  for (const secret of task.secrets ?? [])
    assert.equal(
      sent.some((body) => body.includes(secret)),
      gateway === plain || !isGuarded,
      `${secret} at the provider`,
    )
  return folder.files()
}

async function runAgent(
  gateway: Gateway,
  { prompt, cwd }: { prompt: string; cwd: string },
): Promise<Record<string, unknown>> {
  const options = ['-p', prompt, '--output-format', 'json', '--dangerously-skip-permissions']
  const agent = spawn(CLAUDE_CODE, options, {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_API_KEY: 'gateway-key',
      CLAUDE_CODE_MAX_RETRIES: '2',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LONGEST_RUN_MS,
  })
  return JSON.parse(await text(agent.stdout))
}
