import test, { type ExecutionContext } from 'ava'
import type { Fact } from '../../plugins/semantic-cache/entries/fact.ts'
import { PostgresBook } from '../../plugins/semantic-cache/entries/postgres/postgres-book.ts'
import type { Entry } from '../../plugins/semantic-cache/entry.ts'
import { eventually } from '../support/cache-stage.ts'
import { query } from '../support/postgres.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { vectorServerOfFile } from '../support/vector-database.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const VECTOR = Int8Array.of(127, 0, 0, 0)
const vectorServer = vectorServerOfFile(test)

/** A database, and what processes open there, with a clock that is turned by hand. */
async function createPlace(t: ExecutionContext) {
  const url = await (await vectorServer()).createDatabase(t)
  const log = createRecordingLog()
  const time = { nowMs: Date.now() }
  const clock = { nowMs: () => time.nowMs }
  const open = ({ maxBytes = 1e9 } = {}) => {
    const book = new PostgresBook({ url, maxBytes, clock, log })
    t.teardown(() => book.close())
    return book
  }
  return { url, log, time, open }
}

function entryFact(text: string, parts: Partial<Entry> = {}): Fact {
  const entry = { id: `id of ${text}`, text, storedAtMs: Date.now(), expiresAtMs: Date.now() + HOUR_MS, ...parts }
  return { kind: 'entry', entry, vector: VECTOR }
}

/** What a process is told from when this resolves on. */
async function listen(book: PostgresBook): Promise<Fact[]> {
  const told: Fact[] = []
  book.follow({ onFact: ({ fact }) => void told.push(fact), onForget: () => {} })
  await eventually(
    () =>
      book
        .load('nothing', () => {})
        .then(
          () => true,
          () => false,
        ),
    Boolean,
  )
  return told
}

/** A server that is slow is asked again. */
async function orAgain<T>(work: () => Promise<T>): Promise<T> {
  const attempt = () =>
    work().then(
      (value) => [value],
      () => [],
    )
  const [value] = await eventually(attempt, ({ length }) => length === 1)
  return value as T // safe: there is one
}

async function countOf(url: string, table: string): Promise<number> {
  const [row] = await query(url, `select count(*) as rows from ${table}`)
  return Number(row?.rows)
}

test('postgres: what is too large to be told is fetched by whoever hears of it', async (t) => {
  const { open } = await createPlace(t)
  const told = await listen(open())
  const text = 'long text '.repeat(5000)
  await open().append('s', [entryFact(text), entryFact('short')])
  await eventually(
    async () => told.length,
    (count) => count === 2,
  )
  const texts = told.map((fact) => (fact.kind === 'entry' ? fact.entry.text.length : 0))
  t.deepEqual(texts.sort(), [text.length, 'short'.length].sort())
})

test('postgres: what has expired is deleted, a minute after the last time', async (t) => {
  const { url, open, time } = await createPlace(t)
  const book = open()
  await book.append('s', [entryFact('long')])
  for (let i = 0; i < 30; i++) await book.append('s', [entryFact(`short ${i}`, { expiresAtMs: time.nowMs + 1000 })])
  await book.replies().set('r', Buffer.from('reply'), 1000)
  t.is(await countOf(url, 'semantic_fact_1'), 31)
  time.nowMs += MINUTE_MS
  await book.append('s', [entryFact('another')])
  await eventually(
    async () => [await countOf(url, 'semantic_fact_1'), await countOf(url, 'semantic_reply_1')],
    ([facts, replies]) => facts === 2 && replies === 0,
  )
  t.pass()
})

test('postgres: over its bound, what was written longest ago goes, replies and facts alike', async (t) => {
  const { url, open, time } = await createPlace(t)
  const book = open({ maxBytes: 1_000_000 })
  const replies = book.replies()
  for (let i = 0; i < 200; i++) {
    await book.append('s', [entryFact(`text ${i}`)])
    await replies.set(`reply ${i}`, Buffer.alloc(10_000), HOUR_MS)
  }
  time.nowMs += MINUTE_MS
  await book.append('s', [entryFact('last')])
  const usedBytes = async () => {
    const [row] = await query(
      url,
      'select (select sum(bytes) from semantic_fact_1) + (select sum(bytes) from semantic_reply_1) as bytes',
    )
    return Number(row?.bytes)
  }
  await eventually(usedBytes, (bytes) => bytes <= 1_000_000)
  t.true((await usedBytes()) > 800_000, 'and no more than must')
  t.is(await orAgain(() => replies.get('reply 0')), undefined)
  t.is((await orAgain(() => replies.get('reply 199')))?.length, 10_000)
  const texts: string[] = []
  await orAgain(() =>
    book.load('s', (facts) => texts.push(...facts.flatMap((fact) => (fact.kind === 'entry' ? fact.entry.text : [])))),
  )
  t.true(texts.includes('last') && texts.includes('text 199') && !texts.includes('text 0'))
})

test('postgres: tables that are dropped under running gateways are made again', async (t) => {
  const { url, open } = await createPlace(t)
  const book = open()
  await book.append('s', [entryFact('a')])
  await query(url, 'drop table semantic_fact_1, semantic_reply_1')
  await t.throwsAsync(book.append('s', [entryFact('b')]), { message: /does not exist/ })
  await book.append('s', [entryFact('b')])
  t.is(await countOf(url, 'semantic_fact_1'), 1)
})

test('postgres: processes that begin at the same time make the tables once', async (t) => {
  const { url, open } = await createPlace(t)
  await Promise.all(Array.from({ length: 5 }, (_, i) => open().append('s', [entryFact(`text ${i}`)])))
  t.is(await countOf(url, 'semantic_fact_1'), 5)
})
