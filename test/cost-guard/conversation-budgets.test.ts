import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { parseEvents } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { type Reply, send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { type Asking, openCostFixture, scopeOf, tokenOf } from './cost-fixture.ts'

const cost = await openCostFixture({ config: { plugins: { watch: false }, costs: { per_run: 50 } } })
test.after.always(() => cost.close())

/** 10 + 60 tokens of Sonnet: 0.93 thousandths of a dollar. */
const ANSWER = { kind: 'answer', usage: { input_tokens: 10, output_tokens: 60 } } as const
const ANSWER_USD = 0.00093

/** Returns a sender of turns of one conversation, each with a question of its own. */
function conversation(
  t: ExecutionContext,
  guard: string,
  { name = t.title, agent }: { name?: string; agent?: string } = {},
) {
  const scenario = cost.fixture.scenario({ anthropic: ANSWER })
  let nth = 0
  const headers = {
    'x-claude-code-session-id': tokenOf(name),
    ...(agent !== undefined && { 'x-claude-code-agent-id': agent }),
  }
  const turn = async (asking: Partial<Asking> = {}) => {
    const prompt = `turn ${nth++} of ${agent}`
    const reply = await cost.ask(scenario, {
      as: t.title,
      guard,
      prompt,
      extra: { max_tokens: 60 },
      headers,
      ...asking,
    })
    await eventually(() => heldBy(asking.as ?? t.title) === 0, 'nothing is held')
    return reply
  }
  return { scenario, turn, seen: () => scenario.seen('anthropic').length }
}

/** Returns what is held in all windows of a caller. */
function heldBy(caller: string): number {
  const db = new DatabaseSync(path.join(cost.dataDir, 'turnpike.db'), { readOnly: true })
  try {
    const row = db.prepare('select sum(held_nano_usd) as held from spend_window where scope = ?').get(scopeOf(caller))
    return Number(row?.held)
  } finally {
    db.close()
  }
}

/** Sends turns until one is refused. Returns the refusal, and how many were answered. */
async function untilRefused(turn: () => Promise<Reply>): Promise<{ refused: Reply; answered: number }> {
  for (let answered = 0; ; answered++) {
    const reply = await turn()
    if (reply.status !== 200) return { refused: reply, answered }
    if (answered > 50) throw new Error('Expected a refusal within 50 turns')
  }
}

function errorOf({
  json,
}: Reply): Record<'limit' | 'spent' | 'estimated', number> & Record<'message' | 'conversation', string> {
  return valueAt(json, 'error') as ReturnType<typeof errorOf>
}

function budgetsOf(id: string, body?: JsonObject): Promise<Reply> {
  const options = body === undefined ? { method: 'GET' } : { method: 'POST', body }
  return send(cost.fixture.gateway.url, { path: `/dashboard/api/conversations/${id}/budgets`, ...options })
}

for (const dialect of ['messages', 'chat', 'responses'] as const)
  test(`conversation: ${dialect}: a refusal is final, and names the limit, the spending and the command that raises it`, async (t) => {
    const { turn, scenario } = conversation(t, 'per_conversation=0.0003')
    const reply = await turn({ dialect })
    t.is(reply.status, 429)
    t.is(reply.headers['x-should-retry'], 'false')
    t.is(reply.headers['retry-after'], undefined)
    const { message, conversation: id, ...amounts } = errorOf(reply)
    const type = dialect === 'responses' ? 'usage_limit_reached' : 'cost_limit_per_conversation'
    t.like(amounts, { type, limit: 0.0003, spent: 0, resets_at: null, budget: 'per_conversation' })
    t.regex(id, /^conv_/)
    t.true(message.includes(`turnpike conversation raise ${id} --by `), message)
    if (dialect === 'responses')
      t.regex(String(reply.headers['x-codex-promo-message']), /turnpike conversation raise conv_\w+ --by/)
    t.is(scenario.seen('anthropic').length + scenario.seen('openai').length, 0)
  })

test('conversation: its budget is its own, of its key alone', async (t) => {
  const guard = 'per_conversation=0.003'
  const one = conversation(t, guard)
  const { answered } = await untilRefused(one.turn)
  t.is(answered, 3)
  t.is((await conversation(t, guard, { name: `${t.title} 2` }).turn()).status, 200, 'another conversation')
  t.is((await one.turn({ as: `${t.title} 2` })).status, 200, 'another key, the same session')
})

test('conversation: the header of a budget reports its rest, and only tightens', async (t) => {
  const { turn } = conversation(t, 'per_run=1000&per_conversation=0.5')
  const { headers } = await turn()
  t.is(headers['x-svc-budget-run-limit'], '50')
  t.is(headers['x-svc-budget-conversation-limit'], '0.5')
  const left = Number(headers['x-svc-budget-conversation-remaining'])
  t.true(left < 0.5 && left > 0.49, String(left))
  t.is((await turn({ guard: 'per_run=2' })).headers['x-svc-budget-run-limit'], '2')
})

test('conversation: raised by its owner, it goes on from the next request', async (t) => {
  const { turn } = conversation(t, 'per_conversation=0.003')
  const { refused } = await untilRefused(turn)
  const id = errorOf(refused).conversation
  const raised = await budgetsOf(id, { by: 0.002 })
  t.is(raised.status, 200, raised.text)
  t.like(raised.json, { budget: 'per_conversation', unit: 'usd', limit: 0.005, raised: 0.002, spent: 3 * ANSWER_USD })
  const { answered } = await untilRefused(turn)
  t.is(answered, 2)
  t.like((await budgetsOf(id)).json, {
    data: [
      { budget: 'per_conversation', limit: 0.005 },
      { budget: 'per_run', limit: 50 },
    ],
  })
})

test('conversation: the command raises it', async (t) => {
  const { turn } = conversation(t, 'per_conversation=0.0003')
  const { conversation: id } = errorOf(await turn())
  const raise = (...words: string[]) =>
    runCommandInThread(['conversation', 'raise', ...words, '--url', cost.fixture.gateway.url])
  const { code, stdout } = await raise(id, '--by', '5')
  t.is(code, 0, stdout)
  t.is(stdout, `per_conversation of ${id}: $0 of $5.0003 used.\n`)
  t.is((await turn()).status, 200)
  t.is((await raise('conv_none', '--by', '5')).code, 66)
  t.is((await raise(id)).code, 2)
  t.is((await raise(id, '--by', '1', '--to', '2')).code, 2)
  t.is((await raise(id, '--by', '30m')).code, 2)
})

test('conversation: a raise that makes no sense is refused', async (t) => {
  const { turn } = conversation(t, 'per_conversation=0.0003&turns_per_conversation=5')
  const { conversation: id } = errorOf(await turn())
  for (const body of [
    {},
    { by: 1, to: 2 },
    { by: 0 },
    { by: -1 },
    { by: '1' },
    { by: 2e6 },
    { by: 1, budget: 'per_day' },
  ])
    t.is((await budgetsOf(id, body)).status, 400, JSON.stringify(body))
  t.is((await budgetsOf(id, { by: 0.5, budget: 'turns_per_conversation' })).status, 400)
  t.is((await budgetsOf(id, { by: 1, budget: 'tokens_per_conversation' })).status, 404)
})

test('conversation: a run is one budget with its sub-agents, each agent has its own', async (t) => {
  const guard = 'per_run=0.006&per_agent=0.003'
  const [main, one, other] = [undefined, 'one', 'other'].map((agent) =>
    conversation(t, guard, { ...(agent && { agent }) }),
  )
  const answered: number[] = []
  const types: unknown[] = []
  for (const each of [main, one, other]) {
    if (each === undefined) continue
    const { refused, answered: count } = await untilRefused(each.turn)
    answered.push(count)
    types.push(valueAt(refused.json, 'error.type'), valueAt(refused.json, 'error.agent'))
    t.true(errorOf(refused).message.includes('--budget per_'), errorOf(refused).message)
  }
  t.deepEqual(answered, [3, 3, 0])
  t.deepEqual(types, ['cost_limit_per_agent', '', 'cost_limit_per_agent', 'one', 'cost_limit_per_run', undefined])
})

for (const agent of ["it's-$(id)`id`", '--url=x'])
  test(`conversation: the command that raises the budget of ${agent} is safe in a shell, and raises it`, async (t) => {
    const { turn } = conversation(t, 'per_agent=0.0003', { agent })
    const refused = await turn()
    const command = String(valueAt(refused.json, 'error.raise_with'))
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' }).split('\n')
    t.true(words.includes(`--agent=${agent}`), words.join(' '))
    await runCommandInThread([...words.slice(1, -1), '--url', cost.fixture.gateway.url])
    t.is((await turn()).status, 200)
  })

test('turns: those that a provider has answered count, and neither hits of a cache nor failures', async (t) => {
  const { turn, seen } = conversation(t, 'turns_per_conversation=2')
  t.is((await turn({ prompt: 'same' })).status, 200)
  t.is((await turn({ prompt: 'same' })).headers['x-svc-cache'], 'hit')
  const failing = cost.fixture.scenario({ anthropic: { kind: 'error', status: 400 } })
  const headers = { ...failing.headers, 'x-claude-code-session-id': tokenOf(t.title) }
  t.is((await turn({ headers })).status, 400)
  t.is((await turn()).status, 200)
  const refused = await turn()
  t.like(refused.json, { error: { type: 'turn_limit_per_conversation', limit: 2, spent: 2, estimated: 1 } })
  t.is(seen(), 2)
  const raised = await budgetsOf(errorOf(refused).conversation, { budget: 'turns_per_conversation', to: 3 })
  t.like(raised.json, { unit: 'turns', limit: 3, spent: 2 })
  t.is((await turn()).status, 200)
  t.is((await turn()).status, 429)
})

test('tokens: input and output count as billed, and the output limit is lowered to what is left', async (t) => {
  const { turn, scenario } = conversation(t, 'tokens_per_conversation=400')
  const { refused, answered } = await untilRefused(() => turn({ extra: { max_tokens: 300 } }))
  t.true(answered >= 3, String(answered))
  const limits = scenario.seen('anthropic').map(({ json }) => Number(json?.max_tokens))
  t.true(Math.min(...limits) < 300 && Math.min(...limits) >= 64, String(limits))
  t.like(refused.json, { error: { type: 'token_limit_per_conversation', limit: 400, spent: answered * 70 } })
})

test('tokens: a reply without counts has used what is held for all its choices', async (t) => {
  const choices = [0, 1, 2, 3].map((index) => ({ index, message: { role: 'assistant', content: 'Fine.' } }))
  const body = { id: 'chatcmpl-1', object: 'chat.completion', model: 'gpt-4o', choices }
  const scenario = cost.fixture.scenario({ openai: { kind: 'reply', body } })
  const { turn } = conversation(t, 'tokens_per_conversation=100000')
  const headers = { ...scenario.headers, 'x-claude-code-session-id': tokenOf(t.title) }
  const asking = { dialect: 'chat', extra: { n: 4, max_tokens: 500 }, headers } as const
  t.is((await turn(asking)).status, 200)
  const remaining = (await turn(asking)).headers['x-svc-budget-tokens-remaining']
  t.true(Number(remaining) <= 100_000 - 2 * 4 * 500, String(remaining))
})

for (const guard of ['per_conversation=0.01', 'tokens_per_conversation=600'])
  test(`stream: one that ${guard} does not pay for is cut, within the budget`, async (t) => {
    const text = Array.from({ length: 3000 }, (_, index) => `word${index}`).join(' ')
    const slow = { kind: 'answer', text, writes: { sizes: [2000] } } as const
    const scenario = cost.fixture.scenario({ anthropic: slow })
    const headers = { ...scenario.headers, 'x-claude-code-session-id': tokenOf(t.title) }
    const { turn } = conversation(t, guard)
    const reply = await turn({ stream: true, extra: { max_tokens: 8000 }, headers })
    t.is(reply.status, 200)
    const last = parseEvents(reply.body).findLast(({ event }) => event === 'message_delta')
    t.is(valueAt(last?.data, 'delta.stop_reason'), 'max_tokens')
    const { conversation: id, limit } = errorOf((await untilRefused(turn)).refused)
    const [budget] = valueAt((await budgetsOf(id)).json, 'data') as [{ spent: number; held: number }]
    t.true(budget.spent <= limit, `${budget.spent} of ${limit}`)
    t.is(budget.held, 0)
  })

/** Runs the command that a refusal names. */
async function raiseAsAdvised(refused: Reply): Promise<void> {
  const [, ...words] = String(valueAt(refused.json, 'error.raise_with')).split(' ')
  await runCommandInThread([...words, '--url', cost.fixture.gateway.url])
}

for (const [budget, before, after] of [
  ['per_conversation', '2', '0.0000001'],
  ['turns_per_conversation', '100', '1'],
  ['tokens_per_conversation', '100000', '100'],
] as const)
  test(`conversation: after the advised raise of ${budget}, whose limit was lowered, the same request goes on`, async (t) => {
    const { turn } = conversation(t, `${budget}=${before}`)
    for (let nth = 0; nth < 4; nth++) t.is((await turn()).status, 200)
    const refused = await turn({ guard: `${budget}=${after}` })
    t.is(refused.status, 429)
    await raiseAsAdvised(refused)
    t.is((await turn({ guard: `${budget}=${after}` })).status, 200)
  })

test('conversation: a raise to an amount counts from the limit of the last request, also of a refused one', async (t) => {
  const { turn } = conversation(t, 'per_conversation=2')
  t.is((await turn()).status, 200)
  const lowered = { guard: 'per_conversation=0.0000001' }
  const { conversation: id } = errorOf(await turn(lowered))
  t.like((await budgetsOf(id, { to: 3 })).json, { limit: 3, raised: 3 - 0.0000001 })
  const { status, headers } = await turn(lowered)
  t.is(status, 200)
  t.is(headers['x-svc-budget-conversation-limit'], '3')
})

test('time: after the advised raise a conversation of yesterday goes on', async (t) => {
  const { turn } = conversation(t, 'time_per_conversation=1h')
  t.is((await turn()).status, 200)
  const db = new DatabaseSync(path.join(cost.dataDir, 'turnpike.db'), { timeout: 10_000 })
  const yesterday = `update spend_window set begun_at_ms = begun_at_ms - 86400000 where window_id like 'w:%' and scope = ?`
  db.prepare(yesterday).run(scopeOf(t.title))
  db.close()
  const refused = await turn()
  t.is(refused.status, 429)
  await raiseAsAdvised(refused)
  t.is((await turn()).status, 200)
})

test('time: it begins with the first request, and is raised like the others', async (t) => {
  const { turn } = conversation(t, 'time_per_conversation=1h')
  t.is((await turn()).status, 200)
  const db = new DatabaseSync(path.join(cost.dataDir, 'turnpike.db'), { timeout: 10_000 })
  db.prepare(
    `update spend_window set begun_at_ms = begun_at_ms - 3700000 where window_id like 'w:%' and scope = ?`,
  ).run(scopeOf(t.title))
  db.close()
  const refused = await turn()
  t.like(refused.json, { error: { type: 'time_limit_per_conversation', limit: 3600 } })
  const { conversation: id, message, spent } = errorOf(refused)
  t.true(spent >= 3700, String(spent))
  t.true(message.includes(`--by ${spent}s --budget time_per_conversation`), message)
  t.is((await budgetsOf(id, { budget: 'time_per_conversation', by: 600 })).status, 200)
  t.is((await turn()).status, 200)
})
