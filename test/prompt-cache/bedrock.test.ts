import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { startGateway } from '../support/gateway.ts'
import { send } from '../support/http-client.ts'
import { createBilledCache } from '../support/provider/billed-cache.ts'
import { startBedrock } from '../support/stand-in-bedrock.ts'
import { bodyOf, PATHS } from './conversation-bodies.ts'

const MODEL = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const API_KEY = 'operator-bedrock-api-key'

const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-bedrock-'))
const config = path.join(folder, 'turnpike.yaml')
await writeFile(config, JSON.stringify({ plugins: { watch: false } }))
const bedrock = await startBedrock({ apiKey: API_KEY })
const gateway = await startGateway({
  SVC_PIPELINE: 'prompt-cache',
  SVC_CONFIG: config,
  BEDROCK_BASE_URL: bedrock.url,
  AWS_BEARER_TOKEN_BEDROCK: API_KEY,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/dev/null',
})
test.after.always(async () => {
  await gateway.stop()
  await Promise.all([bedrock.close(), rm(folder, { recursive: true, force: true })])
})

test('prompt-cache: a chat client in front of Bedrock reads what its turns have written', async (t) => {
  const cache = createBilledCache()
  bedrock.reply(MODEL, cache.script)
  for (let turn = 1; turn <= 4; turn++) {
    const body = { ...bodyOf('chat', t.title, turn), model: `bedrock/${MODEL}`, stream: turn > 2 }
    t.is((await send(gateway.url, { path: PATHS.chat, body })).status, 200)
  }
  const [first, second, third, fourth] = cache.bills
  t.is(first?.cache_creation_input_tokens, 0)
  t.true((second?.cache_creation_input_tokens ?? 0) > 1024)
  t.is(third?.cache_read_input_tokens, second?.cache_creation_input_tokens)
  t.is(
    fourth?.cache_read_input_tokens,
    (third?.cache_read_input_tokens ?? 0) + (third?.cache_creation_input_tokens ?? 0),
  )
})
