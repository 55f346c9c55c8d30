import { readdirSync, statSync } from 'node:fs'
import type { ExecutionContext } from 'ava'
import { parsePublicKeys } from '../../../src/journal/receipts/public-key.ts'
import { violationsIn } from '../../stores/sql/credits/books.ts'
import { eventually } from '../../support/eventually.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { send } from '../../support/http-client.ts'
import { assertLedger } from '../../support/ledger.ts'
import { booksOf } from '../../support/stripe/machine-payments.ts'
import { alarmsOf } from '../matrix/audit.ts'
import type { Plant } from '../matrix/plant.ts'
import { type Load, type Paid, payToTheEnd, type Sent } from './load.ts'
import { auditNested } from './nested.ts'

/** Moment of a gateway's kill. */
export interface Kill {
  readonly pid: number
  readonly atMs: number
}

/** Subject of an audit. */
export interface Scenario {
  readonly plant: Plant
  /** Those that run now. */
  readonly gateways: readonly [GatewayProcess, ...GatewayProcess[]]
  readonly load: Load
  readonly kills: readonly Kill[]
  /** The most that a key may spend in a day, in USD. */
  readonly capUsd: number
  /** True if delivered answers are kept where a kill does not reach them. */
  readonly keepsAnswers: boolean
}

/** Figures of a drill, for its report. */
export type Figures = Record<string, number | string>

const NANO_USD = 1e9
/** Longest delay of database writes while it works. */
const MOMENT_MS = 2000
const LARGEST_LOG_BYTES = 80 * 1024 * 1024
const KNOWN_FILES =
  /^(turnpike|telemetry|entries)\.db(-wal|-shm)?$|^receipt-key|^plugins$|^semantic-cache$|\.pem$|\.json$/

/** Asserts the guarantees for killed processes, and returns the figures. */
export async function auditKills(t: ExecutionContext, scenario: Scenario): Promise<Figures> {
  const { plant, load, kills } = scenario
  await endLeases(scenario)
  const receipts = await auditReceipts(t, scenario)
  const spending = await auditSpending(t, scenario)
  await auditNested(t, scenario)
  t.deepEqual(await plant.sql(violationsIn('%')), [], 'the books of calls and credits agree')
  const payments = await auditPayments(t, scenario)
  const caches = auditAnswers(t, load.sent)
  await auditRemains(t, scenario)
  const failed = load.sent.filter(({ outcome }) => outcome !== 'works')
  return {
    kills: kills.length,
    requests: load.sent.length,
    cutByKills: failed.length,
    ...receipts,
    ...spending,
    ...payments,
    ...caches,
  }
}

/** As time would, and the sweepers of gateways then. */
async function endLeases({ plant }: Scenario): Promise<void> {
  await plant.sql(`update spend_hold set due_at_ms = 0 where state = 'open' returning id`)
  await plant.sql(`update credit_hold set due_at_ms = 0 where state = 'open' returning id`)
  await plant.sql('update payment set lease_until_ms = 0 returning id')
  const store = await plant.openStore()
  for (const sweep of ['spend.sweep', 'ledger.sweep'] as const)
    for (let isMore = true; isMore; ) ({ isMore } = await store.run(sweep, undefined))
  await store.close()
}

/** Asserts that each whole reply has one genuine receipt, unless its gateway was killed within the same moment. */
async function auditReceipts(t: ExecutionContext, { plant, gateways, load, kills }: Scenario): Promise<Figures> {
  const whole = load.sent.filter(({ outcome }) => outcome === 'works')
  const idOf = ({ reply }: Sent) => String(reply.headers['x-svc-receipt'])
  t.is(new Set(whole.map(idOf)).size, whole.length, 'no two answers have one receipt')
  const read = async () => {
    const rows = await plant.sql('select id, json from receipt')
    return new Map(rows.map(({ id, json }) => [String(id), String(json)]))
  }
  // Negative where this process received the answer after its kill.
  const untilKill = ({ pid, endedAtMs }: Sent) => (kills.find((kill) => kill.pid === pid)?.atMs ?? Infinity) - endedAtMs
  let stored = await read()
  // A gateway that still runs stores its last receipts behind its replies, and tries again where this audit locks the file.
  await eventually(async () => {
    stored = await read()
    return whole.every((each) => stored.has(idOf(each)) || untilKill(each) < Infinity)
  }, 'every receipt of the gateways that run')
  const missing = whole.filter((each) => !stored.has(idOf(each)))
  t.deepEqual(
    missing.filter((each) => untilKill(each) > MOMENT_MS).map((each) => `${each.text}: ${untilKill(each)} ms`),
    [],
    'a receipt is lost only with the moment before a kill',
  )
  const keys = parsePublicKeys(
    (await send(gateways[0].url, { method: 'GET', path: '/.well-known/turnpike-keys' })).text,
  )
  t.is(keys.length, 1, 'one key for all starts')
  const store = await plant.openStore()
  const { heads } = await assertLedger(t, store, keys).finally(() => store.close())
  const latestMs = Math.max(0, ...missing.map(untilKill))
  return { answers: whole.length, receiptsLost: missing.length, heads, lostWithinMs: Math.round(latestMs) }
}

/** Asserts that no cap is overrun, answers are paid for, and kills leave most of a cap to be used. */
async function auditSpending(t: ExecutionContext, { plant, capUsd }: Scenario): Promise<Figures> {
  const days = await plant.sql(
    `select scope, settled_nano_usd, held_nano_usd from spend_window where window_id like 'd:%' and scope like 'key:%'`,
  )
  t.true(days.length > 0)
  let lostUsd = 0
  for (const { scope, settled_nano_usd: settled, held_nano_usd: held } of days) {
    t.is(Number(held), 0, 'nothing is held')
    t.true(Number(settled) <= capUsd * NANO_USD, `${scope} has spent ${settled}`)
    const costs = await plant.sql(`select json from receipt where scope = '${String(scope).replace(/^key:/, '')}'`)
    const guarded = costs
      .map(({ json }) => JSON.parse(String(json)))
      .filter(({ pipeline }) => pipeline.includes('cost-guard'))
    const knownUsd = guarded.reduce((sum, { cost }) => sum + Number(cost.provider_usd ?? 0), 0)
    t.true(
      Number(settled) / NANO_USD >= knownUsd - 1e-6,
      `${scope}: ${settled} is less than the ${knownUsd} of its receipts`,
    )
    lostUsd = Math.max(lostUsd, Number(settled) / NANO_USD - knownUsd)
  }
  t.true(lostUsd <= 0.1 * capUsd, `kills have used up ${lostUsd} of ${capUsd}`)
  return {
    keys: days.length,
    capUsd,
    usedUpByKillsUsd: lostUsd.toFixed(3),
    usable: `${(100 - (100 * lostUsd) / capUsd).toFixed(1)} %`,
  }
}

/** Asserts that each payer has a reply or the money, but for the one documented case: see docs/payments.md. */
async function auditPayments(t: ExecutionContext, { plant, gateways, load, keepsAnswers }: Scenario): Promise<Figures> {
  const { world } = plant.stripe
  for (const purchase of load.paid) await payToTheEnd(purchase, gateways[0].url)
  // A stream that has begun is paid, even if it breaks off.
  const isAnswered = ({ outcomes }: Paid) => outcomes.some((outcome) => /^(works|cut after)/.test(outcome))
  const gaps: Paid[] = []
  for (const purchase of load.paid) {
    const books = booksOf(world, purchase.challenge.id)
    const what = `${purchase.challenge.id}: ${purchase.outcomes}`
    t.true(books.intents <= 1, what)
    t.true(books.capturedCents <= 50, what)
    if (isAnswered(purchase)) t.is(books.capturedCents, 50, what)
    else if (books.capturedCents > 0) gaps.push(purchase)
    t.true(purchase.outcomes.filter((outcome) => outcome === 'works').length <= (purchase.idempotencyKey ? 9 : 1), what)
  }
  const keyed = gaps.filter(({ idempotencyKey }) => idempotencyKey !== undefined)
  if (keepsAnswers)
    t.deepEqual(
      keyed.map(({ outcomes }) => outcomes),
      [],
      'with a key in Redis no answer is lost',
    )
  for (const { challenge } of gaps) {
    const [row] = await plant.sql(`select state from payment where id = '${challenge.id}'`)
    t.is(row?.state, 'consumed', 'what is lost was on its way to its client')
  }
  await plant.sql('update payment set due_at_ms = 0 where due_at_ms is not null returning id')
  await eventually(() => booksOf(world).heldCents === 0, 'abandoned holds are released', 90_000)
  const isResumed = ({ outcomes }: Paid) => outcomes.indexOf('works') > 0
  return {
    paid: load.paid.length,
    paidAndAnswered: load.paid.filter(isAnswered).length,
    answeredAfterKill: load.paid.filter(isResumed).length,
    lostInTheGap: gaps.length,
  }
}

/** Asserts that whole replies answer their requests: no torn entry comes out of a cache. */
function auditAnswers(t: ExecutionContext, sent: readonly Sent[]): Figures {
  const hits = sent.filter(({ reply, outcome }) => outcome === 'works' && reply.headers['x-svc-cache'] === 'hit')
  const words = ({ reply }: Sent) =>
    [...reply.text.matchAll(/"text":"((?:[^"\\]|\\.)*)"/g)].map(([, piece]) => piece).join('')
  const wrong = hits.filter((each) => words(each) !== `You said: ${each.text}`)
  t.deepEqual(
    wrong.map((each) => [each.text, words(each)]),
    [],
    'a stored answer is whole, and its own',
  )
  const odd = sent.filter(({ outcome }) => !ORDERLY.test(outcome))
  t.deepEqual(
    odd.map(({ outcome }) => outcome),
    [],
    'what fails does so as a killed process does',
  )
  return { hits: hits.length }
}

/** Answers of the living, and what clients see of the dead. */
const ORDERLY = /^(works|no answer: .*|cut after \d+ bytes|503|error event)$/

/** Asserts that nothing is left of dead processes: no connection, no file, no lock. */
async function auditRemains(t: ExecutionContext, { plant, gateways }: Scenario): Promise<void> {
  for (const gateway of gateways) t.deepEqual(alarmsOf(gateway), [])
  await eventually(() => plant.provider.pending() === 0, 'no call to the provider runs')
  if (plant.databaseUrl !== undefined) {
    const connections = `select pid from pg_stat_activity where application_name = 'turnpike'`
    const most = gateways.length * 25
    await eventually(async () => (await plant.sql(connections)).length <= most, 'connections of the dead are gone')
    const locks = `select pid from pg_locks l join pg_stat_activity a using (pid) where a.state = 'idle in transaction'`
    await eventually(async () => (await plant.sql(locks)).length === 0, 'no idle connection holds a lock')
  }
  const files = readdirSync(plant.dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  t.deepEqual(
    files.map(({ name }) => name).filter((name) => !KNOWN_FILES.test(name)),
    [],
    'no file is left behind',
  )
  for (const { parentPath, name } of files) {
    const { size } = statSync(`${parentPath}/${name}`)
    if (name.endsWith('-wal')) t.true(size < LARGEST_LOG_BYTES, `${name} has ${size} bytes`)
  }
}
