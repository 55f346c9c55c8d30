/**
 * `npm run test:agent [-- <pipeline>]`: a coding agent's command line, run headless against the gateway, with a stand-in
 * provider behind it that asks for a tool. Not a part of `npm test`: the agent's package weighs 360 MB and is installed on demand.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { startGatewayProcess } from '../support/gateway-process.ts'
import type { Script } from '../support/provider/script.ts'
import { startProvider } from '../support/stand-in-provider.ts'

const AGENT = '@anthropic-ai/claude-code@2.1.329'
const FOLDER = path.resolve('node_modules/.cache/coding-agent')
const WORD = 'turnpike-was-here'
const LONGEST_RUN_MS = 120_000

installAgent()
await using provider = await startProvider({ acceptAnything: true, script: ({ raw }) => scriptFor(raw.toString()) })
const [pipeline] = process.argv.slice(2)
await using gateway = await startGatewayProcess({
  ANTHROPIC_BASE_URL: provider.url,
  ANTHROPIC_API_KEY: 'provider-key',
  ...(pipeline !== undefined && { SVC_PIPELINE: pipeline }),
})
const result = await runAgent(`Run the command: echo ${WORD}`)
assert.equal(result.is_error, false, JSON.stringify(result))
assert.match(String(result.result), /The tool has answered/)
const calls = provider.seen.filter(({ url }) => url.startsWith('/v1/messages?'))
assert.ok(
  calls.some(({ raw }) => raw.includes('tool_result') && raw.includes(WORD)),
  'the tool result has come back',
)
assert.ok(calls.every(({ headers }) => headers['x-api-key'] === 'provider-key'))
console.log(`${calls.length} calls, ${calls.reduce((sum, { raw }) => sum + raw.length, 0)} bytes sent, one tool run`)
console.log('1 passed, 0 failed')

/** Asks for a tool first, and ends when its result is there. */
function scriptFor(request: string): Script | undefined {
  if (!request.includes('"stream":true')) return undefined
  if (request.includes('tool_result')) return { kind: 'answer', text: 'The tool has answered.' }
  const input = { command: `echo ${WORD}`, description: 'Says a word' }
  return {
    kind: 'answer',
    content: [{ type: 'tool_use', id: 'toolu_01', name: 'Bash', input }],
    stopReason: 'tool_use',
  }
}

function installAgent(): void {
  if (existsSync(path.join(FOLDER, 'node_modules/.bin/claude'))) return
  console.log(`installing ${AGENT} into ${path.relative('.', FOLDER)}`)
  const { status } = spawnSync('npm', ['install', '--prefix', FOLDER, '--no-save', AGENT], { stdio: 'inherit' })
  if (status !== 0) throw new Error(`${AGENT} cannot be installed here`)
}

async function runAgent(prompt: string): Promise<Record<string, unknown>> {
  const home = mkdtempSync(path.join(tmpdir(), 'turnpike-agent-'))
  const options = ['-p', prompt, '--output-format', 'json', '--allowedTools', 'Bash(echo:*)']
  const agent = spawn(path.join(FOLDER, 'node_modules/.bin/claude'), options, {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_API_KEY: 'gateway-key',
      CLAUDE_CODE_MAX_RETRIES: '2',
      IS_SANDBOX: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LONGEST_RUN_MS,
  })
  return JSON.parse(await text(agent.stdout))
}
