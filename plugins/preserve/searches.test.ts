import { setImmediate as nextTurn } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { GatewayError } from 'turnpike/plugin'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import { threadCpuMs } from './cpu-budget.ts'
import { compile, isQuicklyCompiled, Refusal } from './expression.ts'
import { matchesIn } from './matches.ts'
import type { Search, SearchResult } from './protocol.ts'
import { SearchThread } from './search-thread.ts'
import { Searches } from './searches.ts'
import { searchShortly } from './short-search.ts'

/** Expression that reads to the text's end for each match. */
const DEAREST = 'a.*z|a'
const LONG_TEXT = 'a'.repeat(300_000)
const signal = new AbortController().signal

function open(t: ExecutionContext, options: { operators?: string[]; thread?: SearchThread } = {}): Searches {
  const searches = new Searches({ clock: { nowMs: () => 0 }, log: createRecordingLog(), operators: [], ...options })
  t.teardown(() => searches.close())
  return searches
}

/** Thread whose searches end when the test resolves them. */
/** Its tests are serial: they come before the long searches, which would hold up the loop for longer than a search waits. */
class HeldThread extends SearchThread {
  readonly held: { readonly search: Search; readonly end: (result: SearchResult) => void }[] = []

  constructor() {
    super(createRecordingLog())
  }

  override search(search: Search): Promise<SearchResult> {
    const { promise, resolve } = Promise.withResolvers<SearchResult>()
    this.held.push({ search, end: resolve })
    return promise
  }
}

const atoms = fc.constantFrom(
  'a',
  'b',
  '[a-c]',
  '[^a]',
  '.',
  '\\d',
  '\\w',
  '\\b',
  '^',
  '$',
  '(?:a|bc)',
  '(b)',
  '\\pL',
  '\u00e9',
)
const counts = fc.constantFrom('', '', '', '*', '+', '?', '+?', '{2}', '{1,3}')
const expressions = fc
  .array(fc.tuple(atoms, counts), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.map((part) => part.join('')).join(''))
  .filter((source) => !/[\^$b]\{/.test(source))
const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' ', '\n', '\u00e9', '\u{1f600}') }), {
  maxLength: 5,
})

test('searches: loop and thread return the result of a plain search', async (t) => {
  const thread = new SearchThread(createRecordingLog())
  t.teardown(() => thread.close())
  const outcomes = { short: 0, thread: 0, matches: 0 }
  await fc.assert(
    fc.asyncProperty(texts, expressions, async (given, source) => {
      const direct = matchesIn(given, compile(source), () => {})
      const short = searchShortly(given, source)
      if (short !== undefined) t.deepEqual(short, direct)
      const result = await thread.search({ texts: given, source })
      t.deepEqual(result.kind === 'found' && result.matches, direct)
      outcomes[short === undefined ? 'thread' : 'short']++
      outcomes.matches += direct.flat().length
    }),
    { numRuns: 500 },
  )
  t.true(outcomes.short > 50 && outcomes.thread > 20 && outcomes.matches > 100, JSON.stringify(outcomes))
})

test('searches: an expression that hangs a backtracking engine ends', async (t) => {
  const searches = open(t)
  for (const source of ['(a+)+$', '(a|a)*b', '(.*)*x', '^(([a-z])+.)+[A-Z]([a-z])+$'])
    await searches.find([`${'a'.repeat(60_000)}!`], source, { scope: source, signal })
  t.pass()
})

test('searches: slow searches, long texts and invalid syntax are refused', async (t) => {
  const searches = open(t)
  for (const [source, text, message] of [
    [DEAREST, LONG_TEXT, /longer than 250 ms/],
    ['(a|b|c|d)+e', 'a'.repeat(4_000_000), /characters of one text/],
    ['(?=a)', 'a', /RE2’s syntax/],
    ['(?i)x{1000}', 'a', /instructions/],
  ] as const) {
    const refused = await t.throwsAsync(searches.find([text], source, { scope: source, signal }), {
      instanceOf: Refusal,
    })
    t.regex(refused.message, message)
  }
})

test.serial(
  'searches: short texts with quick expressions are searched on the loop, all others in the thread',
  async (t) => {
    const nowMs = () => 0
    const given = ['key AB-12 in the Vault']
    for (const source of ['[A-Z]{2}-\\d+', 'AB-\\d+'])
      t.is(searchShortly(given, source, { nowMs })?.flat().length, 1, source)
    t.is(searchShortly(given, '(?i)vault', { nowMs, known: compile('(?i)vault') })?.flat().length, 1)
    t.is(searchShortly(given, '(?i)vault', { nowMs }), undefined)
    t.is(searchShortly([LONG_TEXT], 'x', { nowMs }), undefined)
    let turns = 0
    t.is(searchShortly(['a'.repeat(2000)], DEAREST, { nowMs: () => turns++ }), undefined)
    t.is(turns, 4)
    const thread = new HeldThread()
    const left = new AbortController()
    const search = open(t, { thread }).find([LONG_TEXT], 'x', { scope: 'a', signal: left.signal })
    t.is(thread.held.length, 1)
    left.abort(new Error('left'))
    await t.throwsAsync(search, { message: 'left' })
  },
)

test('expressions: slow compilation is predicted from the text', (t) => {
  const quick = ['ORDER-\\d+', '[A-Z]{2}-\\d{4,8}', '(?:a|b)+?\\.', '\\(x\\)', '(a)|b']
  const slow = [
    '(?i)a',
    '\\pL',
    '[\\PL]',
    '(?P<n>a)',
    'x{1000}',
    '(x{40}){40}',
    'a'.repeat(2000),
    `${'(a{9}'.repeat(9)}`,
  ]
  t.deepEqual([...quick, ...slow].filter(isQuicklyCompiled), quick)
})

test.serial('searches: an aborted search leaves the queue, and the thread continues with the next', async (t) => {
  const thread = new HeldThread()
  const searches = open(t, { thread })
  const leaving = new AbortController()
  const sources = () => thread.held.map(({ search }) => search.source)
  const find = (source: string, scope: string, of = signal) => searches.find([LONG_TEXT], source, { scope, signal: of })
  const first = find('first', 'a')
  const left = Array.from({ length: 20 }, () => find('left', 'b', leaving.signal))
  const refused = await t.throwsAsync(find('one more', 'b'), { instanceOf: GatewayError })
  t.is(refused.code, 'rate_limit_error')
  leaving.abort(new Error('left'))
  for (const search of left) await t.throwsAsync(search, { message: 'left' })
  const last = find('last', 'b')
  thread.held[0]?.end({ kind: 'found', matches: [], cpuMs: 1 })
  await first
  t.deepEqual(sources(), ['first', 'last'])
  thread.held[1]?.end({ kind: 'found', matches: [], cpuMs: 1 })
  await last
})

test.serial('searches: the caller that has used least comes first, with its oldest search', async (t) => {
  const thread = new HeldThread()
  const searches = open(t, { thread })
  const find = (source: string, scope: string) => searches.find([LONG_TEXT], source, { scope, signal })
  const jobs = [
    ['g1', 'greedy'],
    ['g2', 'greedy'],
    ['s1', 'small'],
    ['s2', 'small'],
    ['n1', 'new'],
  ] as const
  const found = jobs.map(([source, scope]) => find(source, scope))
  for (const [turn, cpuMs] of [100, 10, 1, 1, 1].entries()) {
    thread.held[turn]?.end({ kind: 'found', matches: [], cpuMs })
    await nextTurn()
  }
  await Promise.all(found)
  t.deepEqual(
    thread.held.map(({ search }) => search.source),
    ['g1', 's1', 'n1', 's2', 'g2'],
  )
})

test.serial('searches: a search that exceeds the budget is charged before the next begins', async (t) => {
  const thread = new HeldThread()
  const searches = open(t, { thread })
  const find = () => searches.find([LONG_TEXT], 'x', { scope: 'a', signal })
  const [first, second] = [find(), find()]
  thread.held[0]?.end({ kind: 'found', matches: [], cpuMs: 584 })
  await first
  t.is((await t.throwsAsync(second, { instanceOf: GatewayError })).code, 'rate_limit_error')
  t.is((await t.throwsAsync(find(), { instanceOf: GatewayError })).headers['retry-after'], '5')
  t.is(thread.held.length, 1)
})

test.serial('searches: the CPU of copying texts to the thread is charged to their caller', async (t) => {
  const thread = new HeldThread()
  const { search } = thread
  thread.search = (given) => {
    for (const untilMs = threadCpuMs() + 600; threadCpuMs() < untilMs; );
    return search.call(thread, given)
  }
  const searches = open(t, { thread })
  const find = () => searches.find([LONG_TEXT], 'x', { scope: 'a', signal })
  const first = find()
  t.is((await t.throwsAsync(find(), { instanceOf: GatewayError })).code, 'rate_limit_error')
  thread.held[0]?.end({ kind: 'found', matches: [], cpuMs: 0 })
  await first
})

test('searches: a crashed thread fails its own search only, and the next gets a new thread', async (t) => {
  const program = new URL(
    `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ kind, question }) => {
      if (kind === 'close') return parentPort.close()
      if (question.source === 'die') process.exit()
      parentPort.postMessage({ kind: 'answer', answer: { kind: 'found', matches: [], cpuMs: 1 } })
    })`)}`,
  )
  const searches = open(t, { thread: new SearchThread(createRecordingLog(), program) })
  const find = (source: string) => searches.find([LONG_TEXT], source, { scope: source, signal })
  const [dying, next] = [find('die'), find('x')]
  t.is((await t.throwsAsync(dying, { instanceOf: GatewayError })).code, 'service_unavailable')
  t.deepEqual(await next, [])
})
