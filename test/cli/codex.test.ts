import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { runCommand } from '../support/command-line.ts'
import { isJsonObject } from '../support/json.ts'
import { openProviderFixture } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture()
const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-codex-command-'))
test.after.always(async () => {
  rmSync(folder, { recursive: true, force: true })
  await fixture.close()
})

const { url } = fixture.gateway

test('codex: prints the lines of a provider, and writes nothing', async (t) => {
  const home = path.join(folder, 'printed')
  const args = [
    'codex',
    '--url',
    url,
    '--model',
    'gpt-5.2',
    '--key-variable',
    'MY_KEY',
    '--pipe',
    'exact-cache,compress',
  ]
  const { code, stdout } = await runCommand(args, { env: { CODEX_HOME: home } })
  t.is(code, 0)
  t.is(
    stdout,
    `model = "gpt-5.2"
model_provider = "turnpike"

[model_providers.turnpike]
name = "Turnpike"
base_url = "${url}/v1"
env_key = "MY_KEY"
env_key_instructions = "Set MY_KEY to a key of the gateway; in local mode to any text."
wire_api = "responses"
requires_openai_auth = false
model_catalog_url = "${url}/v1/models"
http_headers = { "x-svc-pipe" = "exact-cache,compress" }
`,
  )
  t.throws(() => readdirSync(home))
})

test('codex: a written profile is written again, keeps a copy of edits, and never replaces another file', async (t) => {
  const home = path.join(folder, 'written')
  const file = path.join(home, 'turnpike.config.toml')
  const write = (...more: string[]) =>
    runCommand(['codex', '--url', url, '--write', ...more], { env: { CODEX_HOME: home } })
  t.is((await write()).code, 0)
  const first = readFileSync(file, 'utf8')
  t.regex((await write()).stdout, /^Unchanged/)
  t.is((await write('--remote-compaction')).code, 0)
  t.regex(readFileSync(file, 'utf8'), /^name = "OpenAI"$/m)
  t.deepEqual(readdirSync(home), ['turnpike.config.toml'])
  const edited = `${first}# mine\n`
  writeFileSync(file, edited)
  t.regex((await write()).stdout, /Your edits are in .*\.bak1/)
  t.is(readFileSync(`${file}.bak1`, 'utf8'), edited)
  t.is(readFileSync(file, 'utf8'), first)
  writeFileSync(file, 'model = "mine"\n')
  const refused = await write()
  t.is(refused.code, 1)
  t.regex(refused.stderr, /was not written by this command/)
  t.is(readFileSync(file, 'utf8'), 'model = "mine"\n')
})

test('codex: prints the catalogue of a running gateway', async (t) => {
  const { code, stdout } = await runCommand(['codex', '--url', url, '--catalogue'])
  t.is(code, 0)
  const { models } = JSON.parse(stdout) as { models: unknown[] }
  t.true(models.length > 0 && models.every(isJsonObject))
})

/** Members without which Codex 0.169.0 refuses the whole list. */
const REQUIRED = [
  ...['slug', 'display_name', 'description', 'supported_reasoning_levels', 'shell_type', 'visibility'],
  ...['supported_in_api', 'priority', 'availability_nux', 'upgrade', 'base_instructions', 'support_verbosity'],
  ...['supports_reasoning_summaries', 'default_verbosity', 'apply_patch_tool_type', 'truncation_policy'],
  ...['supports_parallel_tool_calls', 'experimental_supported_tools', 'supports_search_tool', 'use_responses_lite'],
]

test('codex: with its version it gets the models in its own form, every other client as ever', async (t) => {
  const scenario = fixture.scenario()
  const get = (query: string, headers = {}) => scenario.send({ method: 'GET', path: `/v1/models${query}`, headers })
  const reply = await get('?client_version=0.169.0')
  t.is(reply.status, 200, reply.text)
  const { models } = reply.json as { models: Record<string, unknown>[] }
  for (const model of models) for (const name of REQUIRED) t.true(name in model, `${model.slug} has no ${name}`)
  const claude = models.find(({ slug }) => String(slug).includes('claude-sonnet-4-5'))
  t.like(claude, { context_window: 200_000, auto_compact_token_limit: 168_000, default_reasoning_level: 'medium' })
  t.true(String(claude?.base_instructions).includes('apply_patch'))
  const again = await get('?client_version=0.169.0', { 'if-none-match': reply.headers.etag })
  t.is(again.status, 304)
  t.is(again.text, '')
  const usual = await get('')
  t.like(usual.json, { object: 'list', has_more: false })
  t.false('models' in (usual.json as object))
})
