import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import type { Alert, CrossedCap } from '../core/ports/alerts.ts'
import type { Log } from '../core/ports/log.ts'
import { Journal } from '../journal/journal.ts'
import { boundedAlert } from './bounded-alert.ts'
import { capAlert } from './watch/cap-alert.ts'
import { KeyNetworks } from './watch/key-networks.ts'
import { TROUBLES, watchLog } from './watch/log-watch.ts'
import { ProviderWatch } from './watch/provider-watch.ts'
import { readSpendAlert } from './watch/spend-watch.ts'
import { findUnusualSpend } from './watch/unusual-spend.ts'

const HOUR_MS = 3_600_000
const WEEK_HOURS = 7 * 24
const REPEAT_MS = 24 * HOUR_MS

const CAP: CrossedCap = {
  scope: 'key:key:key_1',
  window: 'm:2026-12',
  share: 80,
  settledNanoUsd: 40_120_000_000,
  limitNanoUsd: 50_000_000_000,
  ownerName: 'ci',
}

for (const [cap, title] of [
  [{}, 'Key “ci” (key_1) spent 80 % of the cap of the month (2026-12): $40.12 of $50.00.'],
  [
    { scope: 'team:team_7', ownerName: 'research', share: 50 },
    'Team “research” (team_7) spent 50 % of the cap of the month (2026-12): $40.12 of $50.00.',
  ],
  [
    { scope: 'instance', share: 100 },
    'All keys together reached the cap of the month (2026-12): $40.12 of $50.00 is spent. Requests that exceed it are refused until 2027-01-01 00:00 UTC.',
  ],
  [
    { scope: 'user:ada', ownerName: null, window: 'd:2026-02-28', settledNanoUsd: 8_000_000, limitNanoUsd: 10_000_000 },
    'Person ada spent 80 % of the cap of the day (2026-02-28): $0.0080 of $0.0100.',
  ],
  [
    { scope: 'tag:nightly', ownerName: null },
    'Tag nightly spent 80 % of the cap of the month (2026-12): $40.12 of $50.00.',
  ],
] as const)
  test(`cap alert: ${title}`, (t) => {
    t.is(capAlert({ ...CAP, ...cap }).title, title)
  })

test('bounded alert: no credential, no line end, and bounded lengths', (t) => {
  const alert: Alert = {
    kind: 'health',
    severity: 'warning',
    subject: 'x\r\nBcc: eve@example.com',
    title: `${'sk-ant-canary-51c2-0123456789'} failed ${'long '.repeat(200)}`,
    details: Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`name${index}`, 'v'.repeat(1000)])),
    dedupeKey: 'k'.repeat(1000),
  }
  const bounded = boundedAlert(alert)
  t.notRegex(JSON.stringify(bounded), /canary|\\r|\\n/)
  t.is(bounded.title.length, 300)
  t.is(Object.keys(bounded.details).length, 16)
  t.true(JSON.stringify(bounded).length < 7000)
})

type Call = { provider: string; model: string; outcome: 'answered' | 'failed'; status: number | null }
const finished = (status: number | null, providerMs = 100, provider = 'acme') => ({
  trace: {
    steps: [],
    edits: [],
    calls: [{ provider, model: 'm', outcome: status === null ? 'failed' : 'answered', status } as Call],
  },
  provider,
  providerMs,
})

test('provider watch: failures are reported from five and 20 %, and their end once', (t) => {
  const watch = new ProviderWatch({ slowAfterMs: 1000, repeatMs: REPEAT_MS })
  const note = (count: number, status: number | null) => {
    for (let i = 0; i < count; i++) watch.note(finished(status))
  }
  const titles = () => watch.read().map(({ title, ends }) => `${ends === undefined ? '' : 'end of '}${title}`)
  note(4, null)
  t.deepEqual(
    titles().filter((title) => title.includes('fails')),
    [],
    'four are few',
  )
  note(1, 529)
  t.deepEqual(titles(), ['Provider acme fails: 100 % of its latest calls failed or were refused for their rate.'])
  note(20, 200)
  t.deepEqual(
    titles(),
    ['Provider acme fails: 20 % of its latest calls failed or were refused for their rate.'],
    'it goes on',
  )
  for (let i = 0; i < 4; i++) {
    note(20, 200)
    titles()
  }
  note(1, 200)
  const later = [...titles(), ...titles()]
  t.deepEqual(later, [], 'its end was raised when the failures had left the five buckets')
})

test('provider watch: its end names the alert that it ends', (t) => {
  const watch = new ProviderWatch({ slowAfterMs: 1000, repeatMs: REPEAT_MS })
  for (let i = 0; i < 5; i++) watch.note(finished(500, 2000))
  const [failing, slow] = watch.read()
  t.like(failing, { severity: 'critical', dedupeKey: 'provider:acme:failing', quietMs: REPEAT_MS })
  t.like(slow, { severity: 'warning', dedupeKey: 'provider:acme:slow' })
  for (let i = 0; i < 5; i++) watch.read()
  watch.note(finished(200))
  t.deepEqual(
    watch.read().map(({ title, ends }) => [title, ends]),
    [
      ['Provider acme answers again.', 'provider:acme:failing'],
      ['Provider acme is no longer slow.', 'provider:acme:slow'],
    ],
  )
})

test('provider watch: counts at most 200 providers', (t) => {
  const watch = new ProviderWatch({ slowAfterMs: 1000, repeatMs: REPEAT_MS })
  for (let i = 0; i < 1000; i++) watch.note(finished(200, 1, `provider-${i}`))
  t.is(watch.read().length, 400)
})

test('key networks: a key that is used from many networks within an hour is reported once', async (t) => {
  const raised: Alert[] = []
  let nowMs = 0
  const networks = new KeyNetworks({
    most: 3,
    repeatMs: REPEAT_MS,
    clock: { nowMs: () => nowMs },
    raise: (alert) => void raised.push(alert),
    findNames: async () => [{ of: 'key', id: 'key_1', name: 'laptop' }],
  })
  const use = (...addresses: string[]) => {
    for (const address of addresses) networks.note({ keyId: 'key_1', userId: 'ada' }, address)
  }
  use('10.0.0.1', '10.0.0.2', '::ffff:10.0.0.3', '2001:db8:1:2::1', '2001:db8:1:3::1')
  networks.note({ keyId: 'key_2' }, '10.0.9.1')
  await setImmediate()
  t.is(raised.length, 0, 'two networks')
  nowMs = HOUR_MS
  use('10.0.1.1', '10.0.2.1')
  await setImmediate()
  t.is(raised.length, 0, 'another hour')
  use('10.0.3.1', '10.0.4.1', '10.0.5.1')
  await setImmediate()
  t.is(raised.length, 1)
  t.like(raised[0], { kind: 'key', subject: 'key_1', severity: 'critical', details: { networks: 3 } })
  t.regex(String(raised[0]?.title), /^Key “laptop” \(key_1\) of ada was used from 3 networks/)
  t.notRegex(JSON.stringify(raised), /10\.0\./)
})

test('log watch: troubles are raised with known fields, from children too; other events are not', (t) => {
  const lines: string[] = []
  const write = (_: object, event: string) => void lines.push(event)
  const inner = { debug: write, info: write, warn: write, error: write, child: () => inner }
  const { log, open } = watchLog(inner)
  log.warn({ reason: 'before' }, 'receipts.not-stored')
  const raised: Alert[] = []
  open((alert) => void raised.push(alert), REPEAT_MS)
  log.child({ file: 'x' }).warn({ reason: 'disk full', waiting: 3, prompt: 'secret words' }, 'receipts.not-stored')
  log.error({ provider: 'acme', status: 401 }, 'provider_key.cooled-down')
  log.warn({ reason: 'x' }, 'alerts.not-stored')
  log.info({}, 'receipts.not-stored')
  t.is(lines.length, 5)
  t.deepEqual(
    raised.map(({ dedupeKey }) => dedupeKey),
    ['log:receipts.not-stored', 'log:provider_key.cooled-down:acme'],
  )
  t.deepEqual(raised[0]?.details, { event: 'receipts.not-stored', reason: 'disk full', waiting: 3 })
  t.true(
    Object.keys(TROUBLES).every((event) => !event.startsWith('alert')),
    'an alert about alerts would never end',
  )
})

test('log watch: work after a reply that fails raises an alert', (t) => {
  const ignore = () => {}
  const inner: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => inner }
  const { log, open } = watchLog(inner)
  const raised: Alert[] = []
  open((alert) => void raised.push(alert), REPEAT_MS)
  const journal = new Journal(log)
  journal.add(() => {
    throw new Error('no row')
  })
  journal.close()
  t.deepEqual(
    raised.map(({ dedupeKey, severity }) => [dedupeKey, severity]),
    [['log:journal.work-failed', 'warning']],
  )
})

/** Mulberry32: the same series in every run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Hourly spend of an office, in nano-USD: busy on workdays, and log-normal noise of each day and hour. */
function seriesOf(weeks: number, { random, usdPerDay }: { random: () => number; usdPerDay: number }): number[] {
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  let dayFactor = 1
  return Array.from({ length: weeks * WEEK_HOURS }, (_, hour) => {
    if (hour % 24 === 0) dayFactor = Math.exp(0.3 * normal())
    const isWorkday = Math.floor(hour / 24) % 7 < 5
    const isWorkhour = hour % 24 >= 8 && hour % 24 < 18
    const share = (isWorkday ? 1 : 0.15) * (isWorkhour ? 0.08 : 0.014)
    return Math.round(usdPerDay * 1e9 * share * dayFactor * Math.exp(0.5 * normal()))
  })
}

/** Counts the days of the last part of a series on which an alert is raised. */
function alarmDays(series: readonly number[], fromWeek: number): number {
  let days = 0
  for (let day = fromWeek * 7; day < series.length / 24; day++) {
    const pace = (start: number, hour: number) =>
      series.slice(start * 24, start * 24 + hour + 1).reduce((a, b) => a + b, 0)
    for (let hour = 0; hour < 24; hour++) {
      const of = (lastHour: number) =>
        Array.from({ length: Math.min(8, Math.floor(day / 7)) }, (_, week) => pace(day - 7 * (week + 1), lastHour))
      const past = { pastNanoUsd: of(hour), pastDaysNanoUsd: of(23) }
      const found = findUnusualSpend({ todayNanoUsd: pace(day, hour), ...past, floorNanoUsd: 20e9 })
      if (found === undefined) continue
      days++
      break
    }
  }
  return days
}

test('unusual spend: on generated series there is less than one false alarm in 100 days, and nearly every fivefold day is found', (t) => {
  const random = createRandom(23)
  let [falseAlarms, days, found, tried] = [0, 0, 0, 0]
  for (const usdPerDay of [30, 100, 1000]) {
    for (let instance = 0; instance < 12; instance++) {
      const series = seriesOf(14, { random, usdPerDay })
      falseAlarms += alarmDays(series, 8)
      days += 6 * 7
      // The last Wednesday at five times its usual spend.
      const day = 13 * 7 + 2
      const runaway = series.slice(0, (day + 1) * 24).map((cost, hour) => (hour >= day * 24 ? cost * 5 : cost))
      const last = alarmDays(runaway, 8) - alarmDays(runaway.slice(0, day * 24), 8)
      found += last
      tried++
    }
  }
  t.log(`${falseAlarms} false alarms in ${days} days; ${found} of ${tried} found`)
  t.true(falseAlarms / days < 1 / 100)
  t.true(found / tried > 0.95)
})

test('unusual spend: too few weeks, small sums and usual days are no alarm', (t) => {
  const find = (today: number, past: number[]) =>
    findUnusualSpend({ todayNanoUsd: today, pastNanoUsd: past, pastDaysNanoUsd: past, floorNanoUsd: 20 })
  t.is(find(10_000, [100, 100]), undefined, 'two weeks')
  t.is(find(19, [0, 0, 0]), undefined, 'below the floor')
  t.deepEqual(find(21, [0, 0, 0]), { usualNanoUsd: 0, boundNanoUsd: 20 })
  t.is(find(250, [100, 100, 100]), undefined, 'two and a half times')
  t.not(find(251, [100, 100, 100, 10_000]), undefined, 'one odd week is ignored')
})

test('spend alert: compares today with the same weekday until the end of this hour, in weeks that have sums', async (t) => {
  const nowMs = Date.parse('2026-11-23T16:20:00Z')
  const asked: string[] = []
  const history = (firstHour: string) => ({
    firstHourMs: async () => Date.parse(firstHour),
    async costOf({ fromMs, toMs }: { fromMs: number; toMs: number }) {
      asked.push(`${new Date(fromMs).toISOString().slice(0, 10)}+${(toMs - fromMs) / HOUR_MS}`)
      return fromMs === Date.parse('2026-11-23') ? 500e9 : 100e9
    },
  })
  const alert = await readSpendAlert(history('2026-10-30T10:00:00Z'), { nowMs, floorNanoUsd: 20e9 })
  t.deepEqual(asked, [
    '2026-11-23+17',
    ...['16', '09', '02'].flatMap((day) => [`2026-11-${day}+17`, `2026-11-${day}+24`]),
  ])
  t.is(
    alert?.title,
    'Spend is unlike the last weeks: $500.00 today until now, $100.00 by this hour of the same weekday.',
  )
  t.is(alert?.dedupeKey, 'spend:2026-11-23')
  t.is(await readSpendAlert(history('2026-11-10T00:00:00Z'), { nowMs, floorNanoUsd: 20e9 }), undefined, 'too new')
})
