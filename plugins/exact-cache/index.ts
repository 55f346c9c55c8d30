import { bytes, definePlugin, type Exchange, type Reply, z } from 'turnpike/plugin'
import { cacheOptions, replyFromStored, sharingRule, unpackReply, usesStoredState } from 'turnpike/plugin/cache'
import type { Flight } from './flight.ts'
import { Flights } from './flights.ts'
import { cacheKey } from './key.ts'
import { attach, lead, settleWaiting } from './share.ts'
import { CacheStore } from './store.ts'

const options = z
  .strictObject({
    ...cacheOptions,
    max_entry: bytes({ min: '1KB', max: '256MB' })
      .prefault('4MB')
      .describe('Largest reply to store. Larger replies pass through, and accept no further readers beyond this size.'),
    max_memory: bytes({ min: '1MB', max: '64GB' })
      .prefault('64MB')
      .describe('Memory for stored replies; the least recently used is evicted. Ignored with `REDIS_URL`.'),
  })
  .refine(...sharingRule)

export default definePlugin({
  name: 'exact-cache',
  summary: 'Answers repeated requests with the stored reply, and attaches identical concurrent requests to one call.',
  options,
  perRequest: ['ttl', 'scope'],
  needs: ['log', 'stores', 'later'],
  onError: 'bypass',
  setup({ max_entry, max_memory }, { log, stores, later }) {
    const store = new CacheStore(stores.open('exact-cache', { maxBytes: max_memory }), log)
    if (!store.isShared && max_entry > max_memory)
      log.warn({ max_entry, max_memory }, 'exact-cache.max-entry-exceeds-max-memory')
    const flights = new Flights()
    return {
      middleware: (effective) =>
        async function exactCache(ctx, next) {
          const { exchange } = ctx.state
          const control = String(exchange.headers['cache-control'] ?? '').toLowerCase()
          if (control.includes('no-store')) {
            exchange.idle('cache-control: no-store')
            return next()
          }
          if (usesStoredState(exchange)) {
            exchange.idle('stored state')
            return next()
          }
          const key = cacheKey(exchange, { scope: effective.scope, reach: store.isShared ? 'everywhere' : 'process' })
          const mark = (state: string) => {
            ctx.set('x-svc-cache', state)
            exchange.note(state, { scope: effective.scope })
          }
          const leader = flights.get(key)
          // Its reply may wait to be stored, and would be a hit.
          if (leader !== undefined) settleWaiting(leader)
          // In-flight requests precede stored replies: a flight is removed only when its reply is in the store.
          if (!flights.get(key)?.takesNewcomers && !control.includes('no-cache')) {
            const stored = store.get(key)
            // A wait for nothing would make the pipeline start a timer for this plugin.
            const hit = replyFrom(stored instanceof Promise ? await stored : stored, exchange)
            if (hit !== undefined) {
              mark('hit')
              exchange.reply = hit
              return
            }
          }
          let tried: Flight | undefined
          for (let flight = flights.get(key); flight !== tried && flight?.takesNewcomers; flight = flights.get(key)) {
            mark('attached')
            const reply = await attach(flight, exchange)
            if (reply !== undefined) {
              exchange.reply = reply
              return
            }
            tried = flight
          }
          // No await between the last look-up of flights and the new one: otherwise two could lead.
          mark('miss')
          const { ttl: ttlMs, max_entry: limitBytes } = effective
          const usesLease = !control.includes('no-cache')
          if ((await lead(exchange, next, { flights, key, store, ttlMs, limitBytes, later, usesLease })) === 'attached')
            mark('attached')
        },
    }
  },
})

function replyFrom(stored: Buffer | undefined, exchange: Exchange): Reply | undefined {
  const entry = stored && unpackReply(stored)
  return entry && replyFromStored(entry, { dialect: exchange.dialect, stream: exchange.wantsStream })
}
