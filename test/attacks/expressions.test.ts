import test from 'ava'
import { isDrill } from '../support/drill.ts'
import { openFixtureWith } from '../support/fixture.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, type Reply, type SendOptions } from '../support/http-client.ts'
import { openProbe } from '../support/probed.ts'

/** An expression that looks to the end of this text for each match: a quarter of a second of CPU, then it is refused. */
const PATTERN = 'a.*z|a'
const TEXT = 'a'.repeat(300_000)
const SEARCH_MS = 250
/** More than all keys together get CPU for, before the last one has waited for too long. */
const MOST_SEARCHES = 40
/** The loop reads, parses and prints 300 KB for a search, many of them in one turn; a search in it would add all of its time. */
const LONGEST_TURN_MS = (SEARCH_MS * 4) / 5

/** Least CPU of compiling one of `slowToCompile`. */
const COMPILE_MS = 30

/** Expressions of 500 characters whose compiling alone takes long: no two alike, so that nothing is remembered. */
const slowToCompile = (nth: number) => `(?i)${'[^\\x{10}-\\x{ffff}\\pL]'.repeat(18)}${nth}`

const searchOf = (key: string, text: string, pattern = PATTERN): SendOptions => ({
  body: ask(text),
  headers: {
    authorization: `Bearer ${key}`,
    'x-svc-pipe': 'preserve',
    'x-svc-preserve': new URLSearchParams({ pattern }).toString(),
  },
  timeoutMs: 120_000,
})

const probe = openProbe()
// One process, however the suite is run: the loop that is measured is the one that is attacked.
const fixture = await openFixtureWith(startGatewayProcess, { env: probe.env })
test.after.always(() => fixture.close())
const search = (...of: Parameters<typeof searchOf>) => fixture.scenario().send(searchOf(...of))

test.before('code that is run for the first time takes longer', async () => {
  for (let i = 0; i < 5; i++) await search('first', TEXT, 'x')
})

// Tests share the budget of all keys, and the loop: they run one after another, the one that uses up the budget at the end.
test.serial.beforeEach(async () => void (await probe.report()))

test.serial('expressions: compiling one does not stop the loop, from the header and from the pipeline', async (t) => {
  const turnsMs: number[] = []
  const send = async (options: SendOptions) => {
    const { status } = await fixture.scenario().send(options)
    turnsMs.push((await probe.report()).longestTurnMs)
    return status
  }
  for (let nth = 0; nth < 4; nth++) {
    t.is(await send(searchOf(`key-${nth}`, 'short', slowToCompile(nth))), 200)
    const pipeline = `preserve?pattern=${encodeURIComponent(slowToCompile(nth + 10))}`
    t.is(await send({ body: ask('short'), headers: { 'x-svc-pipe': pipeline } }), 200)
  }
  const wrong = await fixture.scenario().send(searchOf('key', 'short', '(?i)\\pL('))
  t.is(wrong.status, 400)
  t.regex(wrong.text, /RE2/)
  // The middle one: a collection of garbage may fall into any turn, a compilation would be in each.
  const middleMs = turnsMs.sort((a, b) => a - b)[turnsMs.length / 2] ?? 0
  t.true(middleMs < COMPILE_MS, `${middleMs} ms`)
})

test.serial('expressions: one that matches more places than can be kept is 400', async (t) => {
  const headers = { 'x-svc-pipe': 'preserve', 'x-svc-preserve': 'pattern=a' }
  const reply = await fixture.scenario().send({ body: ask('ab'.repeat(20_000)), headers })
  t.is(reply.status, 400)
  t.regex(reply.text, /at most 10000 texts/)
})

test.serial(
  'expressions: while the dearest is searched for, the loop goes round and others are answered',
  async (t) => {
    let isSearching = true
    const searching = search('dearest', TEXT).finally(() => (isSearching = false))
    let answered = 0
    const questions = Array.from({ length: 10 }, async (_, nth) => {
      t.is((await fixture.scenario().send({ body: ask(`question ${nth}`) })).status, 200)
      if (isSearching) answered++
    })
    const [refused] = await Promise.all([searching, ...questions])
    t.is(refused.status, 400)
    t.regex(refused.text, /longer than 250 ms/)
    const { longestTurnMs } = await probe.report()
    t.true(longestTurnMs < LONGEST_TURN_MS, `${longestTurnMs} ms`)
    t.true(answered > 0, 'before the end of the search')
  },
)

test.serial('expressions: a client that leaves gives up its place', async (t) => {
  const leaving = new AbortController()
  const left = Array.from({ length: MOST_SEARCHES }, (_, key) =>
    fixture.scenario().send({ ...searchOf(`left-${key}`, TEXT), signal: leaving.signal }),
  )
  // One of them has been searched for: the others wait.
  await Promise.race(left)
  leaving.abort()
  await Promise.all(left)
  const replies = await Promise.all(Array.from({ length: 3 }, (_, key) => search(`stays-${key}`, TEXT)))
  t.deepEqual(
    replies.map(({ status }) => status),
    [400, 400, 400],
  )
  const { longestTurnMs } = await probe.report()
  t.true(longestTurnMs < LONGEST_TURN_MS, `${longestTurnMs} ms`)
})

test.serial(
  'expressions: a key whose searches take much CPU is 429 before long, and another searches on',
  async (t) => {
    const replies: Reply[] = []
    for (let i = 0; i < 12; i++) replies.push(await search('greedy', TEXT))
    const [refused, ...others] = replies.filter(({ status }) => status === 429)
    t.true(others.length >= 4, replies.map(({ status }) => status).join(' '))
    t.true(Number(refused?.headers['retry-after']) >= 1)
    t.regex(String(refused?.text), /rate_limit_error.*regular expressions/)
    t.is((await search('another', 'short')).status, 200)
    t.is((await fixture.scenario().send({ body: ask('hi'), headers: { authorization: 'Bearer greedy' } })).status, 200)
  },
)

// In `npm test` `plugins/preserve/shared-budget.test.ts` shows it with a clock.
if (isDrill)
  test.serial('expressions: all keys together have a share, and a key that has used nothing comes first', async (t) => {
    const begunMs = performance.now()
    const searches = Array.from({ length: MOST_SEARCHES }, (_, key) => search(`greedy-${key}`, TEXT))
    const replies = await Promise.all(searches)
    const lastedMs = performance.now() - begunMs
    const searched = replies.filter(({ status, text }) => status === 400 && text.includes('longer than 250 ms'))
    const waited = replies.filter(({ status, text }) => status === 503 && text.includes('wait for CPU'))
    t.is(searched.length + waited.length, replies.length)
    t.true(waited.length > 0)
    t.truthy(waited[0]?.headers['retry-after'])
    // Two seconds at once, then half of the time; one more is in flight when the last is refused.
    t.true(searched.length * SEARCH_MS <= 2000 + lastedMs / 2 + 2 * SEARCH_MS, `${searched.length} in ${lastedMs} ms`)
    const { longestTurnMs } = await probe.report()
    t.true(longestTurnMs < LONGEST_TURN_MS, `${longestTurnMs} ms`)
    t.is((await search('greedy-0', 'short')).status, 200)
  })
