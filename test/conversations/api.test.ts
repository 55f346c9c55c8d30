import test from 'ava'
import type { ConversationTurn, ListedRun, Run } from '../../src/core/telemetry/conversations.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { eventually } from '../support/eventually.ts'
import { ask, send } from '../support/http-client.ts'
import { openProviderFixture } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({ env: { SVC_PIPELINE: 'none', SVC_DASHBOARD: 'loopback' } })
test.after.always(() => fixture.close())

interface Shown {
  readonly conversation: Run
  readonly turns: { readonly data: readonly ConversationTurn[]; readonly has_more: boolean }
}

const get = (path: string) => send(fixture.gateway.url, { method: 'GET', path: `/dashboard/api/conversations${path}` })

/** Waits for the runs of a client. */
async function runsOf(client: string, isWhole: (runs: readonly ListedRun[]) => boolean): Promise<readonly ListedRun[]> {
  let runs: readonly ListedRun[] = []
  await eventually(async () => {
    const { json } = await get(`?client=${client}`)
    runs = (json as { data: readonly ListedRun[] }).data // safe: the reply is of this route
    return isWhole(runs)
  }, `runs of ${client}`)
  return runs
}

test('conversations: a session with a sub-agent is one run, whose totals are those of the receipts', async (t) => {
  const scenario = fixture.scenario()
  const session = { 'x-claude-code-session-id': 'session-of-api' }
  const agent = { ...session, 'x-claude-code-agent-id': 'explore' }
  const turn = async (prompt: string, headers: Record<string, string>, stream = false) => {
    const reply = await scenario.send({ body: ask(prompt, { stream }), headers })
    return String(reply.headers['x-svc-receipt'])
  }
  const ids = [await turn('one', session), await turn('two', agent, true), await turn('three', session, true)]
  const [run] = await runsOf('claude-code', ([first]) => first?.runTotals.turns === 3)
  t.like(run, {
    client: 'claude-code',
    source: 'client',
    agentCount: 1,
    newestId: ids[2],
    agents: [{ agent: 'explore' }],
  })
  const shown = (await get(`/${run?.id}`)).json as Shown // safe: the reply is of this route
  t.deepEqual(
    shown.turns.data.map(({ id, number }) => [id, number]),
    [
      [ids[0], 1],
      [ids[2], 2],
    ],
  )
  t.is(shown.turns.data.at(-1)?.runningNanoUsd, run?.totals.costNanoUsd)
  t.like(shown.conversation, { id: run?.id, agentCount: 1 })
  t.true(Number(shown.turns.data[1]?.tokensPerSecond) > 0)
  const usd = await Promise.all(
    ids.map(async (id) => {
      const { json } = await send(fixture.gateway.url, { method: 'GET', path: `/v1/receipts/${id}` })
      return Number((json as { cost: { provider_usd: string } }).cost.provider_usd) // safe: a receipt
    }),
  )
  t.is(run?.runTotals.costNanoUsd, Math.round(usd.reduce((sum, each) => sum + each) * 1e9))
  const lines = (await get(`/${run?.id}/turns.jsonl`)).text.trimEnd().split('\n')
  t.deepEqual(
    lines.map((line) => JSON.parse(line).id),
    [ids[0], ids[2], ids[1]],
  )
})

test('conversations: a page of turns shows that there are more', async (t) => {
  const scenario = fixture.scenario()
  for (const prompt of ['a', 'b', 'c'])
    await scenario.send({ body: ask(prompt), headers: { 'x-interaction-id': 'interaction-of-api' } })
  const [run] = await runsOf('copilot', ([first]) => first?.totals.turns === 3)
  const first = (await get(`/${run?.id}?limit=2`)).json as Shown // safe: the reply is of this route
  t.like(first.turns, { has_more: true, data: [{ number: 1 }, { number: 2 }] })
  const rest = (await get(`/${run?.id}?limit=2&after=${first.turns.data[1]?.id}`)).json as Shown // safe: as above
  t.like(rest.turns, { has_more: false, data: [{ number: 3 }] })
})

test('conversations: an unknown id is 404, a wrong parameter 400', async (t) => {
  t.is((await get('/conv_unknown')).status, 404)
  t.is((await get('/conv_unknown/turns.jsonl')).status, 404)
  t.is((await get('?limit=501')).status, 400)
  t.is((await get('?nonsense=1')).status, 400)
})

test('conversations: the command lists them and shows their turns', async (t) => {
  const scenario = fixture.scenario()
  const session = { 'x-session-id': 'ses_of-command' }
  await scenario.send({ body: ask('one'), headers: session })
  await scenario.send({
    body: ask('two'),
    headers: { 'x-session-id': 'ses_child', 'x-parent-session-id': 'ses_of-command' },
  })
  const [run] = await runsOf('opencode', ([first]) => first?.runTotals.turns === 2)
  const id = String(run?.id)
  const turnpike = async (...args: string[]) => {
    const { code, stdout } = await runCommandInThread(['conversation', ...args, '--url', fixture.gateway.url])
    return { code, lines: stdout.trimEnd().split('\n') }
  }
  const list = await turnpike('list', '--client', 'opencode')
  t.is(list.code, 0)
  t.regex(list.lines[1] ?? '', new RegExp(`^\\S+ \\S+ +${id} +opencode +2 +1 +\\d`))
  const listed = await turnpike('list', '--client', 'opencode', '--json')
  t.deepEqual(
    listed.lines.map((line) => JSON.parse(line).id),
    [id],
  )
  const shown = await turnpike('show', id)
  t.regex(
    shown.lines.join('\n'),
    /2 turns, 0 failed[\s\S]*1 sub-agents:\n {2}conv_\w+ +subagent +1 turns[\s\S]*\n1 +\d\d:\d\d:\d\d/,
  )
  const turns = await turnpike('show', id, '--json')
  t.deepEqual(
    turns.lines.map((line) => JSON.parse(line).number),
    [1, 1],
  )
  t.is((await turnpike('show', 'conv_unknown')).code, 66)
})
