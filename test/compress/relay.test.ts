import test from 'ava'
import { isJsonObject, valueAt } from '../support/json.ts'
import { openPluginFixture } from '../support/plugin-fixture.ts'

const LISTING = Array.from(
  { length: 60 },
  (_, index) => `${String(index + 1).padStart(6)}→const line${index} = ${index * 7}`,
)
/** As a client writes it: numbers that no parser gives back, escapes, spaces, a mark for the prompt cache, thinking. */
const FIRST_CALL = [
  '{ "role":"user", "content":"List  it.\\n\\n\\n```\\n x   # two  spaces\\n```" }',
  '{"role":"assistant","content":[{"type":"thinking","thinking":"I  should.","signature":"EqQB=="},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"a.ts","n":1.0,"big":9007199254740993}}]}',
  `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":false,"content":${JSON.stringify(LISTING.join('\n'))} , "cache_control":{"type":"ephemeral"}}]}`,
  '{"role":"assistant","content":[{"type":"text","text":"Again."},{"type":"tool_use","id":"toolu_2","name":"Read","input":{"file_path":"a.ts"}}]}',
]
const SECOND_RESULT = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":${JSON.stringify(LISTING.join('\n'))}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}]}`

const VANDAL = `
import { definePlugin, z } from 'turnpike/plugin'
export default definePlugin({
  name: 'vandal', summary: 'Cuts texts.', options: z.strictObject({}), perRequest: [], needs: [], onError: 'bypass',
  setup: () => ({ middleware: () => async (ctx, next) => {
    ctx.state.exchange.edit({ op: 'replace', path: ['messages', 0, 'content'], value: 'cut' })
    await next()
  } }),
})`

const fixture = await openPluginFixture({ 'vandal/index.ts': VANDAL }, { env: { SVC_PIPELINE: 'compress' } })
test.after.always(() => fixture.close())

function bodyOf(messages: readonly string[], extra = ''): string {
  return `{"model":"claude-sonnet-4-5", "max_tokens":64,${extra} "messages":[ ${messages.join(' , ')} ]}`
}

test('compress: only the texts that it shortens differ from the bytes of the client', async (t) => {
  const scenario = fixture.scenario()
  const sent = bodyOf([...FIRST_CALL, SECOND_RESULT])
  const reply = await scenario.send({ body: sent })
  t.is(reply.status, 200)
  const [seen] = scenario.seen()
  const received = String(seen?.raw)
  t.is(seen?.refused, undefined)
  const first = JSON.stringify(LISTING.join('\n'))
  const stripped = JSON.stringify(LISTING.map((line) => line.trimStart()).join('\n'))
  const pointer = valueAt(seen?.json, 'messages.4.content.0.content.0.text')
  t.regex(
    String(pointer),
    /^\[lines 1–60 as in the earlier Read a\.ts: “1→const line0 = 0” … “60→const line59 = 413”\]$/,
  )
  t.is(received, sent.replace(first, stripped).replace(first, JSON.stringify(pointer)))
})

test('compress: x-svc-context has the tokens before and after, and the pipeline that ran', async (t) => {
  const scenario = fixture.scenario()
  const reply = await scenario.send({ body: bodyOf([...FIRST_CALL, SECOND_RESULT]) })
  const [, before, after] = /^before=(\d+), after=(\d+), epochs=0$/.exec(String(reply.headers['x-svc-context'])) ?? []
  t.true(Number(after) < Number(before) - 500)
  t.is(reply.headers['x-svc-pipe'], 'compress')
})

test('compress: a conversation that has nothing to shorten keeps its bytes', async (t) => {
  const scenario = fixture.scenario()
  const sent = bodyOf(FIRST_CALL.slice(0, 1))
  await scenario.send({ body: sent })
  t.is(String(scenario.seen()[0]?.raw), sent)
})

test('compress: what one call has sent is the beginning of what the next one sends', async (t) => {
  const scenario = fixture.scenario()
  // A conversation of its own: one with the same beginning would take the place of what is kept of it.
  const marked = FIRST_CALL.map((message) => message.replace('List  it.', 'List  it here.'))
  const unmarked = marked.map((message) => message.replace(', "cache_control":{"type":"ephemeral"}', ''))
  await scenario.send({ body: bodyOf(marked.slice(0, 3)) })
  await scenario.send({ body: bodyOf([...unmarked, SECOND_RESULT]) })
  const [before, after] = scenario.seen().map(({ json }) => (Array.isArray(json?.messages) ? json.messages : []))
  const withoutMarks = (messages: unknown) =>
    JSON.stringify(messages).replaceAll(',"cache_control":{"type":"ephemeral"}', '')
  t.is(withoutMarks(after?.slice(0, 3)), withoutMarks(before))
  t.true(JSON.stringify(before).includes('cache_control'))
  t.false(JSON.stringify(after).includes('cache_control'), 'a mark that the client has moved is not sent again')
})

test('compress: chat clients are served too', async (t) => {
  const scenario = fixture.scenario()
  const call = (id: string) => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'Read', arguments: '{"file_path":"a.ts"}' } }],
  })
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: LISTING.join('\n') })
  const messages = [{ role: 'user', content: 'List it.' }, call('c1'), result('c1'), call('c2'), result('c2')]
  const reply = await scenario.send({ path: '/v1/chat/completions', body: { model: 'claude-sonnet-4-5', messages } })
  t.is(reply.status, 200)
  t.regex(String(scenario.seen()[0]?.raw), /lines 1–60 as in the earlier Read a\.ts/)
})

test('compress: between a cache and a guard it shortens what is asked, and a repeated request is not asked', async (t) => {
  const scenario = fixture.scenario()
  const request = {
    body: bodyOf([...FIRST_CALL, SECOND_RESULT], '"temperature":0.25,'),
    headers: { 'x-svc-pipe': 'exact-cache,preserve,compress,cost-guard?per_request=5' },
  }
  const first = await scenario.send(request)
  const second = await scenario.send(request)
  t.is(first.headers['x-svc-cache'], 'miss')
  // Attached: where the first gateway of several is still storing the reply.
  t.regex(String(second.headers['x-svc-cache']), /^(hit|attached)$/)
  t.deepEqual(second.body, first.body)
  t.is(scenario.seen().length, 1)
  t.regex(String(scenario.seen()[0]?.raw), /lines 1–60 as in the earlier/)
})

const LONG = Array.from({ length: 1500 }, (_, index) => `step ${index} of the build wrote out/${index * 31}.o`).join(
  '\n',
)
const LONG_SESSION = [0, 1, 2, 3, 4].flatMap((index) => [
  `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_${index}","name":"Bash","input":{"command":"make ${index}"}}]}`,
  `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_${index}","content":${JSON.stringify(LONG.replaceAll('out/', `out${index}/`))}}]}`,
])
const PRESSED = 'compress?elide=pressure&max_context=20000&keep=1000'

test('compress: under pressure old results are left out, with a marker that names the way to get them back', async (t) => {
  const scenario = fixture.scenario()
  const body = bodyOf([FIRST_CALL[0] ?? '', ...LONG_SESSION])
  const reply = await scenario.send({ body, headers: { 'x-svc-pipe': PRESSED } })
  t.is(reply.status, 200)
  t.regex(String(reply.headers['x-svc-context']), /epochs=[1-9]/)
  const results = [2, 4, 6, 8, 10].map((index) =>
    String(valueAt(scenario.seen()[0]?.json, `messages.${index}.content.0.content`)),
  )
  t.regex(results[0] ?? '', /\[… \d+ lines elided by the gateway; repeat Bash make 0 to see them; they name .* …\]/)
  t.true(results[0]?.startsWith('step 0 of the build wrote out0/0.o\nstep 1 '), 'its beginning')
  const end = LONG.split('\n').slice(-2).join('\n').replaceAll('out/', 'out0/')
  t.true(results[0]?.endsWith(`…]\n${end}`), 'as much of its end as a hundred characters hold')
  for (const result of results.slice(2)) t.notRegex(result, /elided/)
})

test('compress: without `elide` no result is left out, however long the conversation', async (t) => {
  const scenario = fixture.scenario()
  const body = bodyOf([FIRST_CALL[0] ?? '', ...LONG_SESSION])
  const reply = await scenario.send({ body, headers: { 'x-svc-pipe': 'compress?max_context=20000&keep=1000' } })
  t.regex(String(reply.headers['x-svc-context']), /epochs=0/)
  t.notRegex(String(scenario.seen()[0]?.raw), /elided/)
})

test('compress: where Anthropic can clear old results itself and the client allows it, it does', async (t) => {
  const scenario = fixture.scenario()
  const headers = { 'x-svc-pipe': PRESSED, 'anthropic-beta': 'x-1, context-management-2025-06-27' }
  const extra =
    '"tools":[{"name":"Bash","input_schema":{"type":"object"}},{"name":"mcp__memory__recall","input_schema":{"type":"object"}}],'
  await scenario.send({ body: bodyOf([FIRST_CALL[0] ?? '', ...LONG_SESSION], extra), headers })
  const [seen] = scenario.seen()
  t.like(valueAt(seen?.json, 'context_management.edits.0'), {
    type: 'clear_tool_uses_20250919',
    trigger: { type: 'input_tokens', value: 20_000 },
    exclude_tools: ['mcp__memory__recall'],
  })
  t.notRegex(String(seen?.raw), /elided/)
})

test('compress: the client’s own context management is kept', async (t) => {
  const scenario = fixture.scenario()
  const headers = { 'x-svc-pipe': PRESSED, 'anthropic-beta': 'context-management-2025-06-27' }
  const own = '"context_management":{"edits":[]},'
  await scenario.send({ body: bodyOf([FIRST_CALL[0] ?? '', ...LONG_SESSION], own), headers })
  const [seen] = scenario.seen()
  t.deepEqual(valueAt(seen?.json, 'context_management'), { edits: [] })
  t.notRegex(String(seen?.raw), /elided/)
})

test('preserve: what it declares, compress leaves alone', async (t) => {
  const scenario = fixture.scenario()
  const sent = bodyOf([...FIRST_CALL, SECOND_RESULT])
  for (const headers of [
    { 'x-svc-pipe': 'preserve?tools=Read,compress' },
    { 'x-svc-pipe': 'preserve,compress', 'x-svc-preserve': 'ranges=2,4' },
  ]) {
    await scenario.send({ body: sent, headers })
    t.is(String(scenario.seen().at(-1)?.raw), sent)
  }
})

test('preserve: with a report the reply has what was kept', async (t) => {
  const scenario = fixture.scenario()
  const headers = { 'x-svc-pipe': 'preserve?report=1&ranges=0-1,compress' }
  const reply = await scenario.send({ body: bodyOf([...FIRST_CALL, SECOND_RESULT]), headers })
  t.is(reply.headers['x-svc-preserve'], 'texts=2, kept=2')
  t.is(reply.headers['x-svc-pipe'], 'preserve?report=1&ranges=0-1,compress')
})

test('preserve: a module that does not keep what is declared is bypassed', async (t) => {
  const scenario = fixture.scenario()
  const sent = bodyOf(FIRST_CALL.slice(0, 1))
  const reply = await scenario.send({ body: sent, headers: { 'x-svc-pipe': 'preserve?report=1&last_turns=1,vandal' } })
  t.is(reply.headers['x-svc-preserve'], 'texts=1, kept=1, restored=vandal')
  t.is(String(scenario.seen()[0]?.raw), sent)
  const unwatched = await scenario.send({ body: sent, headers: { 'x-svc-pipe': 'preserve?last_turns=1,vandal' } })
  t.is(unwatched.headers['x-svc-preserve'], undefined)
  t.is(valueAt(scenario.seen()[1]?.json, 'messages.0.content'), 'cut')
})

test('preserve: a header that does not fit is refused', async (t) => {
  const scenario = fixture.scenario()
  const headers = { 'x-svc-pipe': 'preserve', 'x-svc-preserve': 'tool=Read' }
  const reply = await scenario.send({ body: bodyOf(FIRST_CALL.slice(0, 1)), headers })
  t.is(reply.status, 400)
  t.true(isJsonObject(reply.json))
  t.regex(reply.text, /x-svc-preserve.*tool/)
})
