import { type Exchange, GatewayError, type Reply } from 'turnpike/plugin'
import {
  factsOf,
  isCutByLimit,
  packReply,
  replyFromStored,
  type StoredReply,
  storedOfBytes,
  unpackReply,
} from 'turnpike/plugin/cache'
import type { Usage } from 'turnpike/plugin/spend'
import { onAbort } from 'turnpike/plugin/thread'
import { Broadcast, type Whole } from './broadcast.ts'
import { Flight, type FlightResult, type Owner } from './flight.ts'
import type { Flights } from './flights.ts'
import { type Lease, takeLease } from './lease.ts'
import type { CacheStore } from './store.ts'

/** Dependencies of a flight's leader. */
export interface Leading {
  readonly next: () => Promise<void>
  readonly flights: Flights
  readonly key: string
  readonly store: CacheStore
  readonly ttlMs: number
  readonly limitBytes: number
  /** Set when a reply fetched by another instance meanwhile is acceptable. */
  readonly usesLease: boolean
}

/** Outcome of leading: called the provider, or got the reply of another instance. */
export type Led = 'miss' | 'attached'

/** Sends the request on behalf of all identical ones meanwhile, and stores the reply when it is complete. */
export async function lead(exchange: Exchange, leading: Leading): Promise<Led> {
  const { next, flights, key, limitBytes } = leading
  const flight = new Flight()
  flights.add(key, flight)
  flight.join(exchange.signal)
  let lease: Lease | undefined
  try {
    if (leading.store.isShared && leading.usesLease) lease = await leaseOf(flight, exchange, leading)
    const found = lease?.stored && unpackReply(lease.stored)
    const given = found && replyFromStored(found, wishOf(exchange))
    if (found !== undefined && given !== undefined) {
      exchange.reply = given
      flight.resolve({ kind: 'entry', entry: found })
      leave(flight, leading, lease)
      return 'attached'
    }
    await exchange.withSignal(flight.signal, next)
    const result = resultOf(exchange, limitBytes)
    if (result.kind === 'stream') {
      onAbort(flight.signal, () => result.broadcast.cancel())
      exchange.reply = result.broadcast.read()
    }
    flight.resolve(result)
    void settle(result, flight, { ...leading, lease, isOwnAnswer: exchange.calls.length === 1 })
    return 'miss'
  } catch (error) {
    if (isOfProvider(error)) flight.fail(error)
    else flight.resolve({ kind: 'private' })
    leave(flight, leading, lease)
    throw error
  }
}

/**
 * Tests for an error of the provider, which all identical requests share: if each retried now, they would all arrive at
 * once. Any other error may concern the leader alone: its caps, its limits, its plan, its credential.
 */
function isOfProvider(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'upstream_error'
}

function leaseOf(flight: Flight, exchange: Exchange, { key, store }: Leading): Promise<Lease> {
  const { signal } = flight
  return exchange.withoutTimeout(takeLease(store, key, { signal, isWanted: () => flight.takesNewcomers }))
}

function wishOf({ dialect, wantsStream }: Exchange) {
  return { dialect, stream: wantsStream }
}

/** Returns the reply for an identical request: `undefined` when it must call the provider itself. */
export async function attach(flight: Flight, exchange: Exchange): Promise<Reply | undefined> {
  const stopWaiting = flight.join(exchange.signal)
  const reply = await replyOfFlight(flight, exchange)
  if (reply === undefined) stopWaiting()
  return reply
}

async function replyOfFlight(flight: Flight, exchange: Exchange): Promise<Reply | undefined> {
  const result = await exchange.withoutTimeout(flight.result)
  const wanted = wishOf(exchange)
  switch (result.kind) {
    case 'private':
      return undefined
    case 'reply':
      return result.reply
    case 'entry':
      return isGoodFor(exchange, result.owner, result.entry.usage) ? replyFromStored(result.entry, wanted) : undefined
    case 'stream': {
      const { broadcast, owner } = result
      // While a stream runs, it is unknown if its owner's limits will truncate it.
      const isOthers = owner !== undefined && owner.scope !== exchange.caller.scope
      if (wanted.stream && broadcast.isOpen && !isOthers) return broadcast.read()
      const whole = await exchange.withoutTimeout(broadcast.whole())
      if (whole.kind === 'broken' && !isOthers)
        throw new GatewayError('upstream_error', 'The running reply that this request had joined broke off.')
      const entry = entryOf(whole, broadcast)
      return entry && isGoodFor(exchange, owner, entry.usage) ? replyFromStored(entry, wanted) : undefined
    }
  }
}

function isGoodFor({ caller }: Exchange, owner: Owner | undefined, usage: Usage | undefined): boolean {
  return owner === undefined || owner.scope === caller.scope || !isCutByLimit(owner.limit, usage)
}

function ownerOf(exchange: Exchange): Owner | undefined {
  const { answerLimit, caller } = exchange
  return answerLimit && { scope: caller.scope, limit: answerLimit }
}

function resultOf(exchange: Exchange, limitBytes: number): FlightResult {
  const { reply } = exchange
  const owner = ownerOf(exchange)
  // A plugin replied in Koa's own way.
  if (reply === undefined) return { kind: 'private' }
  if (reply.kind === 'stream') {
    if (reply.status !== 200) return { kind: 'private' }
    return { kind: 'stream', broadcast: new Broadcast(reply, limitBytes), owner }
  }
  const entry = storedOfBytes(reply)
  return entry === undefined ? { kind: 'reply', reply } : { kind: 'entry', entry, owner }
}

function entryOf(whole: Whole, { dialect, headers }: Pick<Broadcast, 'dialect' | 'headers'>): StoredReply | undefined {
  if (whole.kind !== 'complete') return undefined
  return { kind: 'stream', dialect: dialect.name, facts: factsOf(headers), usage: whole.usage, body: whole.bytes }
}

async function entryAt(result: FlightResult): Promise<StoredReply | undefined> {
  if (result.kind === 'stream') return entryOf(await result.broadcast.start(), result.broadcast)
  return result.kind === 'entry' ? result.entry : undefined
}

/** Stores a cacheable reply before the flight is removed, so that no request misses both. */
async function settle(
  result: FlightResult,
  flight: Flight,
  leading: Leading & { lease: Lease | undefined; isOwnAnswer: boolean },
): Promise<void> {
  const entry = await entryAt(result)
  // Not stored: the reply of a fallback, since the request's own provider may be healthy later; the reply of a plugin
  // behind this one, which it may repeat itself (a cache, for example); and a reply truncated by a limit of the leader,
  // which changes daily and differs for others.
  const isCut = entry !== undefined && 'owner' in result && isCutByLimit(result.owner?.limit, entry.usage)
  if (entry !== undefined && leading.isOwnAnswer && !isCut && entry.body.length <= leading.limitBytes) {
    await leading.store.set(leading.key, packReply(entry), leading.ttlMs)
  }
  leave(flight, leading, leading.lease)
}

function leave(flight: Flight, { flights, key }: Leading, lease: Lease | undefined): void {
  flights.remove(key, flight)
  void lease?.end()
}
