import type { ExecutionContext } from 'ava'
import { assertSumsAgree } from '../../stores/sql/window-sums.ts'
import type { Plant } from '../matrix/plant.ts'
import type { Client, Load } from './load.ts'

/*
 * DESIGN. Caps that nest, under kills. Each key belongs to a person and a team, and requests have tags, all with caps that are
 * never reached. Each window has the same money as the keys below it, since a request is held in all of them or in none:
 *
 *   Σ keys = Σ persons = Σ teams = gateway, without agents     tag = its requests
 */

const TEAMS = ['team_red', 'team_blue'] as const
/** Tags with a cap. */
const TAGS = ['web', 'shop'] as const
const NANO_USD = 1e9

/** Gives keys a team, and persons, teams and tags a cap. */
export async function nestCaps({ sql }: Plant, clients: readonly Client[], capUsd: number): Promise<void> {
  const limits = JSON.stringify({ costPerDay: capUsd })
  for (const team of TEAMS)
    await sql(`insert into team (id, name, folded_name, limits, created_at_ms)
      values ('${team}', '${team}', '${team}', '${limits}', 0) returning id`)
  for (const tag of TAGS)
    await sql(`insert into tag (name, limits, created_at_ms) values ('${tag}', '${limits}', 0) returning name`)
  await sql(`update account set limits = '${limits}' returning id`)
  for (const [i, { keyId }] of clients.entries()) await joinTeam({ sql }, keyId, i)
}

/** Moves a key to a team, in the middle of its requests. */
export async function joinTeam({ sql }: Pick<Plant, 'sql'>, keyId: string, nth: number): Promise<void> {
  await sql(`update api_key set team_id = '${TEAMS[nth % TEAMS.length]}' where id = '${keyId}' returning id`)
}

/** Asserts that each acknowledged spend is in the sums of its key, person, team and tags, and in no others. */
export async function auditNested(t: ExecutionContext, { plant, load }: { plant: Plant; load: Load }): Promise<void> {
  await assertSumsAgree(t, plant)
  const windows = await plant.sql(
    `select scope, settled_nano_usd as settled from spend_window where window_id like 'd:%'`,
  )
  const sumOf = (prefix: string) =>
    windows.reduce((sum, { scope, settled }) => sum + (String(scope).startsWith(prefix) ? Number(settled) : 0), 0)
  const keys = sumOf('key:key:')
  t.true(keys > 0)
  t.deepEqual({ persons: sumOf('user:'), teams: sumOf('team:') }, { persons: keys, teams: keys })
  t.is(sumOf('instance'), sumOf('key:'))
  const costs = await costsOf(plant)
  for (const tag of TAGS) {
    const own = load.sent.filter(({ outcome, tags }) => outcome === 'works' && tags.includes(tag))
    const known = own.reduce((sum, { reply }) => sum + (costs.get(String(reply.headers['x-svc-receipt'])) ?? 0), 0)
    const settled = sumOf(`tag:${tag}`)
    t.true(settled >= known, `${tag}: ${settled} is less than the ${known} of its receipts`)
    const others = load.sent.filter(({ outcome, tags }) => outcome === 'works' && !tags.includes(tag))
    const without = others.reduce((sum, { reply }) => sum + (costs.get(String(reply.headers['x-svc-receipt'])) ?? 0), 0)
    t.true(settled <= sumOf('key:key:') - without, `${tag} has money of requests without it`)
  }
}

/** Returns the costs of requests by their receipts' ids, in nano-USD. */
async function costsOf({ sql }: Plant): Promise<Map<string, number>> {
  const rows = await sql('select id, json from receipt')
  return new Map(
    rows.map(({ id, json }) => [
      String(id),
      Math.round(Number(JSON.parse(String(json)).cost.provider_usd ?? 0) * NANO_USD),
    ]),
  )
}
