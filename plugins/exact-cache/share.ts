import { type Exchange, GatewayError, type Reply } from 'turnpike/plugin'
import { factsOf, isCutByLimit, packReply, replyFromStored, type StoredReply, unpackReply } from 'turnpike/plugin/cache'
import type { Usage } from 'turnpike/plugin/spend'
import { onAbort } from 'turnpike/plugin/thread'
import { Broadcast, type Whole } from './broadcast.ts'
import { Flight, type FlightResult, type Owner, WholeReply } from './flight.ts'
import type { Flights } from './flights.ts'
import { type Lease, takeLease } from './lease.ts'
import type { CacheStore } from './store.ts'

/** Dependencies of a flight's leader. They outlive the request, so none of them refers to it. */
export interface Leading {
  readonly flights: Flights
  readonly key: string
  readonly store: CacheStore
  readonly ttlMs: number
  readonly limitBytes: number
  /** Runs work that no reply waits for. */
  readonly later: (work: () => void, bytes: number) => void
  /** Set when a reply fetched by another instance meanwhile is acceptable. */
  readonly usesLease: boolean
}

/** Outcome of leading: called the provider, or got the reply of another instance. */
export type Led = 'miss' | 'attached'

/** Sends the request on behalf of all identical ones meanwhile, and stores the reply when it is complete. */
export async function lead(exchange: Exchange, next: () => Promise<void>, leading: Leading): Promise<Led> {
  const { flights, key, limitBytes } = leading
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
    const settling = { ...leading, lease, isOwnAnswer: exchange.calls.length === 1 }
    if (result.kind === 'stream')
      void result.broadcast.start().then((whole) => settleLater(flight, { result, whole, settling }))
    else settleLater(flight, { result, settling })
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
    case 'whole': {
      const { entry } = result.whole
      if (entry === undefined) return result.whole.copy()
      return isGoodFor(exchange, result.owner, entry.usage) ? replyFromStored(entry, wanted) : undefined
    }
    case 'entry':
      return replyFromStored(result.entry, wanted)
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
  return { kind: 'whole', whole: new WholeReply(reply), owner }
}

function entryOf(whole: Whole, { dialect, headers }: Pick<Broadcast, 'dialect' | 'headers'>): StoredReply | undefined {
  if (whole.kind !== 'complete') return undefined
  return { kind: 'stream', dialect: dialect.name, facts: factsOf(headers), usage: whole.usage, body: whole.bytes }
}

function entryAt({ result, whole }: Waiting): StoredReply | undefined {
  if (result.kind === 'stream') return whole && entryOf(whole, result.broadcast)
  return result.kind === 'whole' ? result.whole.entry : undefined
}

type Settling = Leading & { readonly lease: Lease | undefined; readonly isOwnAnswer: boolean }

/** A reply that waits to be stored, with the work of other requests. It is data: a function here would keep the whole request. */
export interface Waiting {
  readonly result: FlightResult
  /** The end of a stream. */
  readonly whole?: Whole
  readonly settling: Settling
}

function settleLater(flight: Flight, waiting: Waiting): void {
  flight.waiting = waiting
  waiting.settling.later(() => settleWaiting(flight), bytesOf(waiting))
}

function bytesOf({ result, whole }: Waiting): number {
  if (result.kind === 'whole') return result.whole.reply.bytes.length
  return whole?.kind === 'complete' ? whole.bytes.length : 0
}

/** Stores the reply of a flight, if it waits for that. */
export function settleWaiting(flight: Flight): void {
  const { waiting } = flight
  flight.waiting = undefined
  if (waiting !== undefined) void settle(flight, waiting)
}

/** Stores a cacheable reply before the flight is removed, so that no request misses both. */
async function settle(flight: Flight, waiting: Waiting): Promise<void> {
  const { result, settling } = waiting
  const { key, store, ttlMs, limitBytes, isOwnAnswer, lease } = settling
  try {
    const entry = entryAt(waiting)
    // Not stored: the reply of a fallback, since the request's own provider may be healthy later; the reply of a plugin
    // behind this one, which it may repeat itself (a cache, for example); and a reply truncated by a limit of the leader,
    // which changes daily and differs for others.
    const isCut = entry !== undefined && 'owner' in result && isCutByLimit(result.owner?.limit, entry.usage)
    if (entry !== undefined && isOwnAnswer && !isCut && entry.body.length <= limitBytes) {
      const storing = store.set(key, packReply(entry), ttlMs)
      if (storing !== undefined) await storing
    }
  } finally {
    leave(flight, settling, lease)
  }
}

function leave(flight: Flight, { flights, key }: Leading, lease: Lease | undefined): void {
  flights.remove(key, flight)
  void lease?.end()
}
