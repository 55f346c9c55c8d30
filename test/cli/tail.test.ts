import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import type { LiveRequest } from '../../src/cli/tail/row.ts'
import { CLOUD, createKey, sessionToken } from '../support/accounts.ts'
import { type Fixture, startFixture } from '../support/cache-fixture.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { startGateway } from '../support/gateway.ts'
import { parseJson, valueAt } from '../support/json.ts'
import { type RunningCommand, startCommand } from '../support/running-command.ts'

const HOSTILE = 'evil\u001b]52;c;b3duZWQ=\u0007\u009b31m\u202emodel'
const fixture: Fixture = await startFixture()
test.after.always('close the fixture', () => fixture.close())

/** Starts `tail` and waits until it follows. */
async function tail(t: ExecutionContext, args: readonly string[], url = fixture.gateway.url): Promise<RunningCommand> {
  const command = startCommand(['tail', '--url', url, ...args])
  t.teardown(() => command.signal('SIGKILL'))
  await command.until(`following ${url}`)
  return command
}

const lines = (command: RunningCommand) => command.stdout().split('\n').filter(Boolean)

test('tail: a line a request, as it ends: time, status, model, cache, tokens, money, modules', async (t) => {
  const command = await tail(t, ['--text', 'lined-model', '-n', '2'])
  for (const _ of [1, 2])
    await fixture.ask('of lines', { extra: { model: 'claude-lined-model' }, pipe: 'exact-cache,cost-guard' })
  t.deepEqual(await command.ended, { code: 0, signal: null })
  const [miss = '', hit = ''] = lines(command)
  t.regex(miss, /^\d\d:\d\d:\d\d 200 claude-lined-model +miss +\d+\/\d+ +≤?\$\S+ +– +\S+s exact-cache:miss cost-guard$/)
  t.regex(hit, /^\d\d:\d\d:\d\d 200 claude-lined-model +hit +\d+\/\d+ +\$0 +\$\S+ +\S+s exact-cache:hit$/)
  t.notRegex(command.stdout(), /\u001b/)
})

test('tail: --json gives an object a line; filters keep the others out', async (t) => {
  const command = await tail(t, ['--json', '--model', 'FILTERED', '--cache', 'miss', '--status', '2xx', '-n', '2'])
  const ask = (prompt: string, model: string, pipe?: string) =>
    fixture.ask(prompt, { extra: { model }, ...(pipe !== undefined && { pipe }) })
  await ask('filter 1', 'claude-filtered-a')
  await ask('filter 1', 'claude-filtered-a')
  await ask('filter 2', 'claude-another')
  await ask('filter 3', 'claude-filtered-b', 'none')
  await ask('filter 4', 'claude-filtered-c')
  await command.ended
  const models = lines(command).map((line) => valueAt(parseJson(line), 'modelAsked'))
  t.deepEqual(models, ['claude-filtered-a', 'claude-filtered-c'])
})

test('tail: control characters in a model’s name cannot drive the terminal', async (t) => {
  const [text, json] = [
    await tail(t, ['--text', '52;c', '-n', '1']),
    await tail(t, ['--json', '--text', '52;c', '-n', '1']),
  ]
  await fixture.ask('hostile', { extra: { model: HOSTILE } })
  await Promise.all([text.ended, json.ended])
  for (const { stdout } of [text, json]) t.notRegex(stdout(), /[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
  t.regex(text.stdout(), /evil/)
  t.is(valueAt(parseJson(json.stdout()), 'modelAsked'), HOSTILE)
})

test('tail: Ctrl-C ends it with 0, and so does a reader that has left', async (t) => {
  const [stopped, unread] = [await tail(t, []), await tail(t, ['--text', 'claude-unread'])]
  stopped.signal('SIGINT')
  t.deepEqual(await stopped.ended, { code: 0, signal: null })
  unread.stopReading()
  await fixture.ask('unread', { extra: { model: 'claude-unread' } })
  t.deepEqual(await unread.ended, { code: 0, signal: null })
  t.notRegex(unread.stderr(), /EPIPE|Error/)
})

const ROW: Partial<LiveRequest> = {
  status: 200,
  outcome: 'complete',
  cache: 'none',
  modelAsked: 'm',
  startedAtMs: 0,
  totalMs: 1,
}

/** Starts a stand-in for a gateway whose connections break. */
async function startBreaking(
  t: ExecutionContext,
  connect: (reply: ServerResponse, lastId: unknown, nth: number) => void,
) {
  let nth = 0
  const server = createServer((request, reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.write('retry: 2000\n\n: here\n\n')
    connect(reply, request.headers['last-event-id'], ++nth)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // safe: it listens on a port
}

test('tail: a connection that is lost is opened again where it ended, with a message', async (t) => {
  const lastIds: unknown[] = []
  const send = (reply: ServerResponse, id: string) =>
    reply.write(`id: ${id}\ndata: ${JSON.stringify({ ...ROW, id, tokens: null, costNanoUsd: null })}\n\n`)
  const url = await startBreaking(t, (reply, lastId, nth) => {
    lastIds.push(lastId)
    send(reply, `rcpt_${nth}`)
    if (nth === 1) reply.end()
    else if (nth === 2) setImmediate(() => reply.destroy())
    else reply.write('event: dropped\ndata: 7\n\n')
  })
  const command = await tail(t, ['--json'], url)
  await command.until('7 requests came too fast')
  command.signal('SIGTERM')
  t.is((await command.ended).code, 0)
  t.deepEqual(
    lines(command).map((line) => valueAt(parseJson(line), 'id')),
    ['rcpt_1', 'rcpt_2', 'rcpt_3'],
  )
  t.deepEqual(lastIds, [undefined, 'rcpt_1', 'rcpt_2'])
  t.is(command.stderr().match(/lost .+; trying again in 0\.5 s/g)?.length, 2)
})

test('tail: a gateway without a dashboard, and one that requires a session, are errors', async (t) => {
  const gateway = await startGateway({ ...CLOUD })
  t.teardown(() => gateway.stop())
  const words = ['tail', '--url', gateway.url, '-n', '1']
  const refused = await runCommandInThread(words)
  t.is(refused.code, 1)
  t.regex(refused.stderr, /Sign in with turnpike login <url>, or give a session token in SVC_SESSION_TOKEN/)
  const { key, id } = await createKey(gateway, 'ada')
  const command = startCommand([...words, '--json', '--key', id], { SVC_SESSION_TOKEN: await sessionToken('ada') })
  t.teardown(() => command.signal('SIGKILL'))
  await command.until('following')
  const body = { model: 'demo/echo', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) })
  t.is((await command.ended).code, 0)
  t.is(valueAt(parseJson(command.stdout()), 'keyId'), id)
})
