import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { CLOUD, createKey } from '../support/accounts.ts'
import { eventually } from '../support/cache-fixture.ts'
import { queryGateway } from '../support/gateway-database.ts'
import type { Reply } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { startJudgeFixture } from './judge-fixture.ts'

const OWN_KEY = 'sk-ant-a-key-of-the-callers-own-account'
const FIRST = 'How do I store winter tyres in a garage?'
const SECOND = 'How do I store old winter tyres in a garage?'
/** Whose spending the judge's is. */
const JUDGE_SCOPE = 'key:plugin:semantic-cache'
const NANO_USD_PER_INPUT_TOKEN = 3000
const NANO_USD_PER_OUTPUT_TOKEN = 15_000
const PIPE = 'semantic-cache?mode=judged,cost-guard'

test('semantic-cache: judged: in cloud mode the operator pays the judge, also where callers must bring keys of their own', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-judged-cloud-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const env = { ...CLOUD, SVC_PROVIDERS_SHARED: 'false', SVC_COST_PER_DAY: '5' }
  const fixture = await startJudgeFixture({}, folder, env)
  t.teardown(fixture.close)
  const { key } = await createKey(fixture.gateway, 'alice')
  fixture.judge(({ new_question, old_question }) => new_question === SECOND && old_question === FIRST)
  const ask = (prompt: string, answer?: string) =>
    fixture.ask(prompt, { as: key, pipe: PIPE, headers: { 'x-provider-key': OWN_KEY }, ...(answer && { answer }) })
  t.is((await fixture.ask(FIRST, { as: key })).status, 401, 'without a key of their own they get nothing')
  const old = await ask(FIRST, 'On a rack.')
  let asked = 1
  await eventually(
    () => {
      asked++
      return ask(SECOND, 'Hang them up.')
    },
    ({ text }) => text === old.text,
  )
  t.is(fixture.calls(SECOND), 0)
  t.is(fixture.cases.length, 2, 'the case and its control')
  const keys = fixture.provider.seen.map(({ json, headers }) => `${valueAt(json, 'model')} ${headers['x-api-key']}`)
  t.deepEqual(keys.sort(), [...Array(2).fill('claude-haiku-4-5 sk-operator'), `claude-sonnet-4-5 ${OWN_KEY}`])

  await fixture.close()
  const spent = await queryGateway(
    folder,
    "select scope, settled_nano_usd as cost from spend_window where window_id like 'd:%'",
  )
  const calls = await queryGateway(folder, 'select settled_calls as settled from call_window')
  t.deepEqual(calls, [{ settled: asked }], 'the plan counts what she asked, and nothing else')
  t.is(spent.length, 2)
  t.is(spent.find(({ scope }) => scope !== JUDGE_SCOPE)?.cost, costOf(old))
  t.true(Number(spent.find(({ scope }) => scope === JUDGE_SCOPE)?.cost) > 0)
})

function costOf({ json }: Reply): number {
  const [input, output] = ['usage.input_tokens', 'usage.output_tokens'].map((path) => Number(valueAt(json, path)))
  return Number(input) * NANO_USD_PER_INPUT_TOKEN + Number(output) * NANO_USD_PER_OUTPUT_TOKEN
}
