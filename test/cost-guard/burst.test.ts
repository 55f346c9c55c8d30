import test from 'ava'
import { bearer, createKey } from '../support/accounts.ts'
import { isDrill } from '../support/drill.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { isPostgresExpected, query } from '../support/postgres.ts'
import { startOnPostgres } from './gateways-on-postgres.ts'

/*
 * Two gateways on one PostgreSQL. A key with a cap sends 600 requests at once, and meanwhile another key sends 40, one
 * after another. The first is limited by its cap alone, the second by nothing.
 */
/** Many times the connections of the pool. */
const AT_ONCE = isDrill ? 600 : 150
const STRANGERS = 40
const NANO = 1e9

const testWithPostgres = isPostgresExpected ? test.serial : test.skip

for (const { cap, title } of [
  { cap: 0.01, title: 'that most of it exceeds' },
  { cap: 1000, title: 'far from it' },
])
  testWithPostgres(
    `burst: ${AT_ONCE} requests at once on a capped key, ${title}, keep the database for others`,
    async (t) => {
      t.timeout(300_000)
      const { databaseUrl, gateways, one } = await startOnPostgres(t, 2)
      const greedy = await createKey(one, 'greedy', { limits: { costPerDay: cap } })
      const stranger = await createKey(one, 'stranger', { limits: { costPerDay: 1 } })
      const sendTo = (nth: number, key: string): Promise<Reply> => {
        const url = gateways[nth % gateways.length]?.url ?? ''
        return send(url, { body: ask(`question ${nth}`), headers: bearer(key), timeoutMs: 120_000 })
      }

      const burst = Promise.all(Array.from({ length: AT_ONCE }, (_, nth) => sendTo(nth, greedy.key)))
      const strangers: Reply[] = []
      for (let nth = 0; nth < STRANGERS; nth++) strangers.push(await sendTo(nth, stranger.key))
      const replies = await burst

      t.is(strangers.filter(({ status }) => status === 200).length, STRANGERS, texts(strangers))
      const through = replies.filter(({ status }) => status === 200).length
      const refused = replies.filter(({ status }) => status === 429)
      t.is(through + refused.length, AT_ONCE, texts(replies))
      t.true(refused.every(({ text }) => text.includes('cost_limit_per_day')))
      t.is(
        cap === 1000 ? refused.length : Math.min(1, refused.length),
        cap === 1000 ? 0 : 1,
        `${through} were answered`,
      )
      const [sums] = await query(
        databaseUrl,
        `select (settled_nano_usd + held_nano_usd)::float8 as spent from spend_window where scope like '%${greedy.id}' and window_id like 'd:%'`,
      )
      t.true(Number(sums?.spent) <= cap * NANO)
      t.log(`${through} answered, ${refused.length} refused`)
    },
  )

/** Returns the first few replies that were neither answered nor refused by a cap. */
function texts(replies: readonly Reply[]): string {
  const odd = replies.filter(({ status, text }) => status !== 200 && !text.includes('cost_limit'))
  return `${odd.length}: ${odd
    .slice(0, 3)
    .map(({ status, text }) => `${status} ${text}`)
    .join('\n')}`
}
