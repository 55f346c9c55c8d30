import test from 'ava'
import { chat } from '../support/chat-bodies.ts'
import { linesOf, sendChat } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import { ask } from '../support/http-client.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import { KEYS, openProviderFixture } from '../support/provider-fixture.ts'

const HEAVY = 'sk-ant-key-heavy'
const LIGHT = 'sk-ant-key-light'
const REVOKED = 'sk-revoked-key'

const fixture = await openProviderFixture({
  config: {
    log_level: 'debug',
    providers: {
      anthropic: {
        keys: [
          { api_key: HEAVY, weight: 3 },
          { api_key: LIGHT, weight: 1 },
        ],
      },
      // Nearly every conversation uses the revoked one first.
      openai: { keys: [{ api_key: REVOKED, weight: 1000 }, { api_key: KEYS.openai }] },
    },
  },
  env: { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', LOG_LEVEL: 'debug' },
})
test.after.always(() => fixture.close())
test.after('keys: the log shows none', (t) => {
  for (const key of [HEAVY, LIGHT, REVOKED, ...Object.values(KEYS)]) t.false(fixture.gateway.log().includes(key), key)
})

const keyOf = ({ headers }: SeenRequest) => String(headers['x-api-key'] ?? headers.authorization).replace('Bearer ', '')
const coolDowns = (provider: string) =>
  linesOf(fixture.gateway).filter((line) => line.msg === 'provider_key.cooled-down' && line.provider === provider)

// One after another: a key’s cool-down is that of the whole gateway.
test.serial('keys: a conversation stays with one key, whatever follows in it', async (t) => {
  const scenario = fixture.scenario()
  const opening = `Let us begin. ${'x'.repeat(2000)}`
  const turns = [{ role: 'user', content: opening }]
  for (let turn = 0; turn < 4; turn++) {
    await scenario.send({ body: ask('', { messages: turns }) })
    turns.push({ role: 'assistant', content: `answer ${turn}` }, { role: 'user', content: `question ${turn}` })
  }
  t.is(scenario.seen('anthropic').length, 4)
  t.is(new Set(scenario.seen('anthropic').map(keyOf)).size, 1)
})

test.serial('keys: a session that the client names stays with one key, whatever its messages', async (t) => {
  const scenario = fixture.scenario()
  for (let turn = 0; turn < 6; turn++)
    await scenario.send({ body: ask(`other words ${turn}`), headers: { 'x-claude-code-session-id': 'session-1' } })
  t.is(new Set(scenario.seen('anthropic').map(keyOf)).size, 1)
})

test.serial('keys: conversations spread over the keys, more of them to the one of more weight', async (t) => {
  const scenario = fixture.scenario()
  await Promise.all(Array.from({ length: 80 }, (_, n) => scenario.send({ body: ask(`conversation ${n}`) })))
  const used = scenario.seen('anthropic').map(keyOf)
  const heavy = used.filter((key) => key === HEAVY).length
  t.is(used.filter((key) => key === LIGHT).length, 80 - heavy)
  // 60 are to be expected; the choice depends on nothing but key and conversation, so it is the same on every run.
  t.true(heavy > 48 && heavy < 72, String(heavy))
})

test.serial('keys: the same words of two callers are two conversations', async (t) => {
  const scenario = fixture.scenario()
  const callers = Array.from({ length: 30 }, (_, n) => `caller-${n}`)
  await Promise.all(
    callers.map((caller) => scenario.send({ body: ask('hi'), headers: { authorization: `Bearer ${caller}` } })),
  )
  t.deepEqual([...new Set(scenario.seen('anthropic').map(keyOf))].toSorted(), [HEAVY, LIGHT])
})

test.serial('keys: after a 401 the next key answers the same request, and the first cools down', async (t) => {
  const scenario = fixture.scenario()
  const first = await sendChat(scenario, chat('first'))
  t.is(first.status, 200, first.text)
  t.deepEqual(scenario.seen('openai').map(keyOf), [REVOKED, KEYS.openai])
  await eventually(() => coolDowns('openai').length === 1, 'a warning about the key')
  t.like(coolDowns('openai')[0], { level: 40, status: 401, coolDownMs: 300_000 })
  const others = fixture.scenario()
  for (const text of ['second', 'third']) t.is((await sendChat(others, chat(text))).status, 200)
  t.deepEqual(others.seen('openai').map(keyOf), [KEYS.openai, KEYS.openai])
})

test.serial(
  'keys: after a 429 the next key answers at once, and the first cools down as long as the provider demands',
  async (t) => {
    const scenario = fixture.scenario({
      anthropic: (nth) => (nth === 1 ? { kind: 'error', status: 429, headers: { 'retry-after': '1' } } : undefined),
    })
    const reply = await scenario.send({ body: ask('limited') })
    t.is(reply.status, 200, reply.text)
    const [limited, other] = scenario.seen('anthropic').map(keyOf)
    t.not(limited, other)
    await eventually(() => coolDowns('anthropic').length === 1, 'a warning about the key')
    t.like(coolDowns('anthropic')[0], { status: 429, coolDownMs: 1000 })
    // A cool-down of one second is over when another request is asked with the key again.
    await eventually(async () => {
      await scenario.send({ body: ask('limited') })
      return keyOf(scenario.seen('anthropic').at(-1) as SeenRequest) === limited // safe: it was just sent
    }, 'the key is used again')
    t.pass()
  },
)

test.serial('keys: when all cool down they are used all the same, and their answer is the client’s', async (t) => {
  const limited = { kind: 'error', status: 429, headers: { 'retry-after': '60' } } as const
  const scenario = fixture.scenario({ anthropic: (nth) => (nth <= 2 ? limited : undefined) })
  const first = await scenario.send({ body: ask('all limited') })
  t.is(first.status, 429)
  t.is(first.headers['retry-after'], '60')
  t.deepEqual([...new Set(scenario.seen('anthropic').map(keyOf))].toSorted(), [HEAVY, LIGHT])
  const second = await scenario.send({ body: ask('all limited') })
  t.is(second.status, 200)
  t.is(scenario.seen('anthropic').length, 3)
})

test.serial('keys: no reply shows one', async (t) => {
  const scenario = fixture.scenario({ anthropic: { kind: 'error', status: 500 } })
  const reply = await scenario.send({ body: ask('fails') })
  t.is(reply.status, 502)
  t.notRegex(reply.text + reply.rawHeaders.join(), /sk-ant-key/)
})
