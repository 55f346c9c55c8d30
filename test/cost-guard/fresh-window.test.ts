import test from 'ava'
import pg from 'pg'
import { bearer, createKey } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { isPostgresExpected, query } from '../support/postgres.ts'
import { startOnPostgres } from './gateways-on-postgres.ts'

/*
 * The first requests of a window, at once, through two gateways, while the row of that window is locked for longer than
 * a command may take: the first commands run into their time limit, and the database answers everything else.
 */
const GATEWAYS = 2
const AT_ONCE = 200
const CAP_USD = 1
const NANO = 1e9

const testWithPostgres = isPostgresExpected ? test.serial : test.skip

testWithPostgres(
  'fresh window: a late first admission is run again, and refuses none of those behind it',
  async (t) => {
    t.timeout(120_000)
    const { databaseUrl, gateways, one } = await startOnPostgres(t, GATEWAYS)
    const limits = { costPerDay: CAP_USD }
    const [greedy, stranger] = [
      await createKey(one, 'greedy', { limits }),
      await createKey(one, 'stranger', { limits }),
    ]
    const sendTo = (nth: number, key: string): Promise<Reply> => {
      const url = gateways[nth % GATEWAYS]?.url ?? ''
      return send(url, { body: ask(`question ${nth}`), headers: bearer(key) })
    }
    t.is((await sendTo(0, stranger.key)).status, 200)
    const blocker = new pg.Client({ connectionString: databaseUrl })
    await blocker.connect()
    t.teardown(() => blocker.end())
    await blocker.query('begin')
    // A row that is entered and not committed: the first admissions wait for it, and the window is fresh afterwards.
    const { rowCount } = await blocker.query(
      'insert into spend_window select replace(scope, $1, $2), window_id, 0, 0 from spend_window where scope like $3',
      [stranger.id, greedy.id, `%${stranger.id}`],
    )
    t.true((rowCount ?? 0) > 0)

    const burst = Promise.all(Array.from({ length: AT_ONCE }, (_, nth) => sendTo(nth, greedy.key)))
    const strangers: Reply[] = []
    const seen = new Set<string>()
    await eventually(async () => {
      strangers.push(...(await Promise.all(gateways.map((_, nth) => sendTo(strangers.length + nth, stranger.key)))))
      const waiting = await query(
        databaseUrl,
        `select pid || ' ' || query_start as attempt from pg_stat_activity where wait_event_type = 'Lock'`,
      )
      for (const { attempt } of waiting) seen.add(String(attempt))
      // Two for each gateway, and again two.
      return seen.size >= 4 * GATEWAYS
    }, 'the late admissions are run again')
    await blocker.query('rollback')
    const replies = await burst

    for (const each of [strangers, replies])
      t.deepEqual(
        each.filter(({ status }) => status !== 200).map(({ status, text }) => `${status} ${text}`),
        [],
      )
    const [sums] = await query(
      databaseUrl,
      `select (settled_nano_usd + held_nano_usd)::float8 as spent from spend_window where scope like '%${greedy.id}' and window_id like 'd:%'`,
    )
    t.true(Number(sums?.spent) > 0 && Number(sums?.spent) <= CAP_USD * NANO)
  },
)
