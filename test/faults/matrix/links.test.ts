import { isPostgresExpected, type Owner } from '../../support/postgres.ts'
import { isRedisExpected } from '../../support/redis.ts'
import { type LinkName, openPlant } from './plant.ts'
import { defineRow, openStand, type Stand, spoil, type Way } from './row.ts'

/*
 * Faults at the other end of a link: Redis, PostgreSQL, the provider, Stripe. All cells share one plant.
 */

let opened: Promise<Stand> | undefined

function open(owner: Owner): Promise<Stand> {
  opened ??= openOnce(owner)
  return opened
}

async function openOnce(owner: Owner): Promise<Stand> {
  const plant = await openPlant(owner, { engine: 'postgres' })
  const [cloud, local] = await Promise.all([plant.startCloud(), plant.startLocal()])
  return openStand(plant, { cloud, local })
}

/** Returns the cases that all links share; `delayMs` is for each chunk, each way. */
function common(link: LinkName, delayMs: number) {
  return {
    refuses: [spoil(link, { kind: 'refuses' })],
    hangs: (['hangs', 'stalls', 'forgets'] as const).map((kind) => spoil(link, { kind })),
    slow: [spoil(link, { kind: 'slow', delayMs })],
    resets: [spoil(link, { kind: 'resets' })],
    garbage: [spoil(link, { kind: 'answers' }, 'answers garbage')],
  }
}

/** Redis refuses each write from now on, as it does at its `maxmemory`. */
const redisFull: Way = {
  name: 'redis at its maxmemory',
  async begin({ plant }) {
    const { createClient } = await import('@redis/client')
    const client = createClient({ url: plant.redisUrl ?? '' })
    await client.connect()
    await client.configSet({ 'maxmemory-policy': 'noeviction', maxmemory: '1' })
    return async () => {
      await client.configSet('maxmemory', '0')
      client.destroy()
    }
  },
}

/** PostgreSQL's error on a full disk, for each write. */
const DISK_FULL = `
create or replace function disk_full() returns trigger language plpgsql as $$
begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
do $$ declare name text; begin
  for name in select tablename from pg_tables where schemaname = 'public' loop
    execute format('create trigger disk_full before insert or update or delete on %I for each row execute function disk_full()', name);
  end loop;
end $$;`
const DISK_FREE = 'drop function disk_full() cascade'

const postgresFull: Way = {
  name: 'postgres with a full disk',
  async begin({ plant }) {
    await plant.sqlEverywhere(DISK_FULL)
    return () => plant.sqlEverywhere(DISK_FREE)
  },
}

/** Builds PostgreSQL's error for a new connection when all connections are taken (protocol 3, ErrorResponse). */
function tooManyConnections(): Buffer {
  const fields = Buffer.from('SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0')
  const head = Buffer.from('E\0\0\0\0')
  head.writeUInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

const postgresTaken: Way = {
  name: 'postgres takes no more connections',
  async begin({ plant }) {
    const link = plant.links.postgres
    await link?.set({ kind: 'resets' })
    await link?.set({ kind: 'answers', bytes: tooManyConnections() })
    return () => link?.set(undefined)
  },
}

function providerSays(status: number): Way {
  return {
    name: `provider answers ${status}`,
    begin({ plant }) {
      plant.providerSays({ kind: 'error', status })
      return () => plant.providerSays(undefined)
    },
  }
}

const stripeFull: Way = {
  name: 'stripe answers 429',
  begin({ plant }) {
    plant.stripe.fail(() => ({ kind: 'status', status: 429 }))
    return () => plant.stripe.mend()
  },
}

if (isPostgresExpected && isRedisExpected) {
  defineRow('redis', {
    open,
    ways: { ...common('redis', 50), full: [redisFull] },
    quick: ['garbage'],
  })
  defineRow('postgres', {
    open,
    ways: { ...common('postgres', 20), full: [postgresFull, postgresTaken] },
    quick: ['garbage'],
  })
  defineRow('provider', {
    open,
    ways: { ...common('provider', 100), full: [providerSays(529), providerSays(429)] },
    quick: ['full'],
  })
  defineRow('stripe', {
    open,
    ways: { ...common('stripe', 100), full: [stripeFull] },
    quick: ['garbage'],
  })
}
