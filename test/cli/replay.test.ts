import test from 'ava'
import { bearer, CLOUD, createKey, sessionToken } from '../support/accounts.ts'
import { type AskOptions, type Fixture, startFixture } from '../support/cache-fixture.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { type JsonObject, parseJson, valueAt } from '../support/json.ts'
import type { Script } from '../support/provider/script.ts'

const [fixture, cloud] = await Promise.all([
  startFixture({ config: { dashboard: { capture_requests: 30 } } }),
  startFixture({ env: CLOUD }),
])
test.after.always('close the fixtures', () => Promise.all([fixture.close(), cloud.close()]))

const replay = (args: readonly string[], env = {}, { gateway }: Pick<Fixture, 'gateway'> = fixture) =>
  runCommandInThread(['replay', '--url', gateway.url, ...args], { env })

/** Sends a request; resolves with its receipt’s id once its row is there. */
async function past(prompt: string, options: AskOptions = {}): Promise<string> {
  const reply = await fixture.ask(prompt, { pipe: 'none', ...options })
  const id = String(reply.headers['x-svc-receipt'])
  const find = () => send(fixture.gateway.url, { method: 'GET', path: `/dashboard/api/requests/${id}` })
  await eventually(async () => (await find()).status === 200, `a row of ${id}`)
  return id
}

test('replay: a request is sent again as it was, and both are shown side by side', async (t) => {
  const id = await past('again', { pipe: 'exact-cache', extra: { temperature: 1.0 } })
  const { code, stdout } = await replay([id])
  t.is(code, 0)
  t.regex(stdout, /^req_\w+ of \d\d:\d\d:\d\d: messages, one reply, \d+ bytes$/m)
  t.regex(stdout, /^status +200 +200$/m)
  t.regex(stdout, /^cache +miss +miss$/m)
  t.regex(stdout, /^input +100% new 0% read 0% written +100% new 0% read 0% written$/m)
  t.regex(stdout, /^billed +\$\S+ +\$\S+$/m)
  t.regex(stdout, /^pipeline +exact-cache$/m)
  t.regex(stdout, /^The replies are equal\.$/m)
  for (const line of stdout.split('\n')) t.true(line.length <= 80, line)
  const [first, second] = fixture.provider.seen.filter(({ raw }) => raw.includes('"again"'))
  t.deepEqual(second?.raw, first?.raw)
})

test('replay: through another pipeline, with headers of its own, as JSON', async (t) => {
  const id = await past('elsewhere')
  const { code, stdout } = await replay([
    id,
    '-p',
    'exact-cache',
    '-H',
    'anthropic-beta: a-beta-2026',
    '--key',
    'sk-ant-mine',
    '--json',
  ])
  t.is(code, 0)
  const shown = parseJson(stdout)
  t.is(valueAt(shown, 'answers'), 'same')
  t.is(valueAt(shown, 'before.pipeline'), 'none')
  t.is(valueAt(shown, 'now.pipeline'), 'exact-cache')
  t.is(valueAt(shown, 'now.cache'), 'miss')
  t.true(Number(valueAt(shown, 'now.costNanoUsd')) > 0)
  const again = fixture.provider.seen.filter(({ raw }) => raw.includes('"elsewhere"')).at(-1)
  t.regex(String(again?.headers['anthropic-beta']), /a-beta-2026/)
  t.notRegex(stdout, /sk-ant-mine/)
})

test('replay: through several modules, what each is billed is shown with the shares of the prompt cache', async (t) => {
  const usage = (tokens: JsonObject): Script => ({
    kind: 'answer',
    content: [{ type: 'text', text: 'Billed.' }],
    usage: { output_tokens: 10, ...tokens },
  })
  fixture.script('shares', (nth) =>
    nth === 1
      ? usage({ input_tokens: 100, cache_creation_input_tokens: 300 })
      : usage({ input_tokens: 100, cache_read_input_tokens: 300 }),
  )
  const { code, stdout } = await replay([await past('shares'), '--pipeline', 'prune-tools,compress'])
  t.is(code, 0, stdout)
  t.regex(stdout, /^input +25% new 0% read 75% written +25% new 75% read 0% written$/m)
  const [, before, now] = /^billed +\$(\S+) +\$(\S+)$/m.exec(stdout) ?? []
  t.true(Number(before) > Number(now) && Number(now) > 0, stdout)
  t.regex(stdout, /^pipeline +none\n +→ prune-tools,compress$/m)
})

test('replay: an answer that differs is shown from where it does', async (t) => {
  fixture.script('another', (nth) => ({
    kind: 'answer',
    content: [{ type: 'text', text: `The same, then ${nth === 1 ? 'one' : 'two'}` }],
  }))
  const { code, stdout } = await replay([await past('another')])
  t.is(code, 0)
  t.regex(stdout, /^The replies differ from character 16 on:\nbefore {2}….+ then one\nnow {5}….+ then two$/m)
})

test('replay: a stream is a stream again, of either dialect', async (t) => {
  const id = await past('streamed', { stream: true })
  const chat = await send(fixture.gateway.url, {
    path: '/v1/chat/completions',
    headers: bearer('caller-1'),
    body: { model: 'claude-chat', stream: true, messages: [{ role: 'user', content: 'chatted' }] },
  })
  const ids = [id, String(chat.headers['x-svc-receipt'])]
  await eventually(async () => (await replay([ids[1] ?? '', '--dry-run'])).code === 0, 'a row of the chat')
  for (const one of ids) {
    const { stdout } = await replay([one, '--json'])
    t.is(valueAt(parseJson(stdout), 'answers'), 'same', stdout)
    t.true(valueAt(parseJson(stdout), 'now.isStream'))
  }
})

test('replay: --dry-run prints the body, byte for byte, and sends nothing', async (t) => {
  const id = await past('unsent', { extra: { temperature: 1.0 } })
  const { code, stdout } = await replay([id, '--dry-run'])
  t.is(code, 0)
  t.is(fixture.calls('unsent'), 1)
  const [first] = fixture.provider.seen.filter(({ raw }) => raw.includes('"unsent"'))
  t.is(stdout, `${first?.raw}\n`)
  const json = parseJson((await replay([id, '--dry-run', '--json', '--key', 'sk-ant-mine'])).stdout)
  t.is(valueAt(json, 'path'), '/v1/messages')
  t.notRegex(JSON.stringify(json), /sk-ant-mine/)
})

test('replay: an error is shown, and is the exit code', async (t) => {
  const id = await past('breaks')
  const { code, stdout, stderr } = await replay([id, '-p', 'cost-guard?per_request=0'])
  t.is(code, 1)
  t.regex(stdout, /^status +200 +429$/m)
  t.regex(stderr, /\S/)
})

test('replay: a missing request and one whose body was not kept are errors with the next step', async (t) => {
  const missing = await replay(['req_none'])
  t.is(missing.code, 66)
  t.regex(missing.stderr, /no such request/)
  const { key } = await createKey(cloud.gateway, 'ada')
  const reply = await cloud.ask('of Ada', { as: key, pipe: 'none' })
  const id = String(reply.headers['x-svc-receipt'])
  const env = { SVC_SESSION_TOKEN: await sessionToken('ada') }
  const find = async () =>
    send(cloud.gateway.url, {
      method: 'GET',
      path: `/dashboard/api/requests/${id}`,
      headers: bearer(env.SVC_SESSION_TOKEN),
    })
  await eventually(async () => (await find()).status === 200, 'a row')
  const unkept = await replay([id], env, cloud)
  t.is(unkept.code, 66)
  t.regex(
    unkept.stderr,
    /was not kept\. In cloud mode an account switches that on.*PUT \/dashboard\/api\/capture \{"hours":1\}/,
  )
})
