import { type Exchange, GatewayError, onAbort, type Reply, type Usage } from 'turnpike/plugin'
import {
  factsOf,
  isCutByLimit,
  packReply,
  replyFromStored,
  type StoredReply,
  storedOfBytes,
  unpackReply,
} from 'turnpike/plugin/cache'
import { Broadcast, type Whole } from './broadcast.ts'
import { Flight, type Landing, type Owner } from './flight.ts'
import type { CacheStore } from './store.ts'
import { type Turn, takeTurn } from './turn.ts'

/** What the leader of a flight needs. */
export interface Leading {
  readonly next: () => Promise<void>
  readonly flights: Map<string, Flight>
  readonly key: string
  readonly store: CacheStore
  readonly ttlMs: number
  readonly limitBytes: number
  /** Whether a reply that another instance gets meanwhile will do. */
  readonly takesTurns: boolean
}

/** What the leader did: it asked, or another instance that it has waited for did. */
export type Led = 'miss' | 'attached'

/** Sends the request on for everybody who asks the same meanwhile, and stores the reply when it is complete. */
export async function lead(exchange: Exchange, leading: Leading): Promise<Led> {
  const { next, flights, key, limitBytes } = leading
  const flight = new Flight()
  flights.set(key, flight)
  flight.join(exchange.signal)
  let turn: Turn | undefined
  try {
    turn = await turnOf(flight, exchange, leading)
    const found = turn?.stored && unpackReply(turn.stored)
    const given = found && replyFromStored(found, wishOf(exchange))
    if (found !== undefined && given !== undefined) {
      exchange.reply = given
      flight.land({ kind: 'entry', entry: found })
      leave(flight, leading, turn)
      return 'attached'
    }
    await exchange.withSignal(flight.signal, next)
    const landing = landingOf(exchange, limitBytes)
    if (landing.kind === 'stream') {
      onAbort(flight.signal, () => landing.broadcast.cancel())
      exchange.reply = landing.broadcast.read()
    }
    flight.land(landing)
    void settle(landing, flight, { ...leading, turn, isOwnAnswer: exchange.calls.length === 1 })
    return 'miss'
  } catch (error) {
    if (isOfProvider(error)) flight.fail(error)
    else flight.land({ kind: 'private' })
    leave(flight, leading, turn)
    throw error
  }
}

/**
 * Whether an error is about the provider, and so of everybody who asked the same: were each to try again now, they would
 * all arrive at once. Every other may be about the leader alone: its caps, its limits, its plan, its credential.
 */
function isOfProvider(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'upstream_error'
}

async function turnOf(flight: Flight, exchange: Exchange, { key, store, takesTurns }: Leading) {
  if (!store.isShared || !takesTurns) return undefined
  const { signal } = flight
  return exchange.patiently(takeTurn(store, key, { signal, isWanted: () => flight.takesNewcomers }))
}

function wishOf({ dialect, wantsStream }: Exchange) {
  return { dialect, stream: wantsStream }
}

/** The reply for a caller who asked the same: `undefined` when it must ask for itself after all. */
export async function attach(flight: Flight, exchange: Exchange): Promise<Reply | undefined> {
  const stopWaiting = flight.join(exchange.signal)
  const reply = await replyOfFlight(flight, exchange)
  if (reply === undefined) stopWaiting()
  return reply
}

async function replyOfFlight(flight: Flight, exchange: Exchange): Promise<Reply | undefined> {
  const landing = await exchange.patiently(flight.landing)
  const wanted = wishOf(exchange)
  switch (landing.kind) {
    case 'private':
      return undefined
    case 'reply':
      return landing.reply
    case 'entry':
      return isGoodFor(exchange, landing.owner, landing.entry.usage)
        ? replyFromStored(landing.entry, wanted)
        : undefined
    case 'stream': {
      const { broadcast, owner } = landing
      // Nobody can tell of a stream that runs whether its owner's limits will cut it.
      const isOthers = owner !== undefined && owner.scope !== exchange.caller.scope
      if (wanted.stream && broadcast.isOpen && !isOthers) return broadcast.read()
      const whole = await exchange.patiently(broadcast.whole())
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

function landingOf(exchange: Exchange, limitBytes: number): Landing {
  const { reply } = exchange
  const owner = ownerOf(exchange)
  // A module answered in Koa's own way.
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

async function entryAt(landing: Landing): Promise<StoredReply | undefined> {
  if (landing.kind === 'stream') return entryOf(await landing.broadcast.start(), landing.broadcast)
  return landing.kind === 'entry' ? landing.entry : undefined
}

/** Stores what can be stored before the flight is forgotten, so that nobody falls between the two. */
async function settle(
  landing: Landing,
  flight: Flight,
  leading: Leading & { turn: Turn | undefined; isOwnAnswer: boolean },
): Promise<void> {
  const entry = await entryAt(landing)
  // The answer of a substitute is not what this request will get once its own provider is well again; and what a module
  // behind this one answered without the provider (from a cache of its own, say) is that module's to give again.
  // The same goes for what a limit of the leader has cut: the limit moves with every day, and others have their own.
  const isCut = entry !== undefined && 'owner' in landing && isCutByLimit(landing.owner?.limit, entry.usage)
  if (entry !== undefined && leading.isOwnAnswer && !isCut && entry.body.length <= leading.limitBytes) {
    await leading.store.set(leading.key, packReply(entry), leading.ttlMs)
  }
  leave(flight, leading, leading.turn)
}

function leave(flight: Flight, { flights, key }: Leading, turn: Turn | undefined): void {
  if (flights.get(key) === flight) flights.delete(key)
  void turn?.end()
}
