import fc from 'fast-check'
import { createSessionStore } from '../../../../src/stores/sql/payments/session-store.ts'
import { isDrill } from '../../../support/drill.ts'
import { engines, type Place } from '../places.ts'

const OPENING = { sessionId: 's', tokenHash: 't', reference: 'pi_1', calls: 10, ttlMs: 3_600_000 }
const LEASE_MS = 3_600_000
/** The decision's own number, not the code's. */
const FREE_LEFT_CALLS = 2

for (const engine of engines) {
  engine.test('sessions: of thirty calls taken at once exactly as many are as were paid for', async (t) => {
    const place = await engine.createPlace(t)
    const sessions = createSessionStore(await place.open())
    await sessions.open(OPENING)
    const take = (callId: string) => sessions.reserve({ tokenHash: 't', callId, leaseMs: LEASE_MS })
    const taken = await Promise.all(Array.from({ length: 30 }, (_, i) => take(`call-${i}`)))
    const held = taken.flatMap((call, i) => (call.kind === 'reserved' ? [`call-${i}`] : []))
    t.is(held.length, 10)
    t.like(
      taken.find(({ kind }) => kind === 'refused'),
      { why: 'exhausted' },
    )
    // Ended in every way, each once and again.
    await Promise.all(held.slice(0, 4).flatMap((id) => [sessions.commit(id), sessions.commit(id)]))
    await Promise.all(held.slice(4, 7).flatMap((id) => [sessions.release(id), sessions.release(id)]))
    t.is((await sessions.standing('t'))?.callsLeft, 3)
    await place.sql(`update agent_session_call set lease_until_ms = 0 returning id`)
    t.deepEqual((await Promise.all([sessions.sweep(), sessions.sweep()])).sort(), [0, 3])
    t.is((await sessions.standing('t'))?.callsLeft, 6)
    for (const id of held) t.false(await sessions.commit(id), 'what was given back cannot be used')
    await Promise.all(held.map((id) => sessions.release(id)))
    t.is((await sessions.standing('t'))?.callsLeft, 6)
  })

  engine.test(
    'sessions: one that is opened again keeps its calls and its end, and one that is over gives none',
    async (t) => {
      const place = await engine.createPlace(t)
      const sessions = createSessionStore(await place.open())
      const first = await sessions.open(OPENING)
      await sessions.reserve({ tokenHash: 't', callId: 'c', leaseMs: LEASE_MS })
      const again = await sessions.open({ ...OPENING, tokenHash: 'new' })
      t.deepEqual(again, { ...first, callsLeft: 9 })
      t.like(await sessions.reserve({ tokenHash: 't', callId: 'd', leaseMs: LEASE_MS }), { why: 'unknown' })
      t.like(await sessions.reserve({ tokenHash: 'new', callId: 'd', leaseMs: LEASE_MS }), { kind: 'reserved' })
      await place.sql('update agent_session set expires_at_ms = 1 returning id')
      t.like(await sessions.reserve({ tokenHash: 'new', callId: 'e', leaseMs: LEASE_MS }), { why: 'expired' })
    },
  )

  engine.test(
    'sessions: of calls that are left at once two are given back, each once, and none after its commit',
    async (t) => {
      const place = await engine.createPlace(t)
      const sessions = createSessionStore(await place.open())
      await sessions.open(OPENING)
      const ids = Array.from({ length: 6 }, (_, i) => `call-${i}`)
      for (const callId of ids) await sessions.reserve({ tokenHash: 't', callId, leaseMs: LEASE_MS })
      t.true(await sessions.commit('call-5'))
      await Promise.all(ids.flatMap((id) => [sessions.leave(id), sessions.leave(id)]))
      t.is((await sessions.standing('t'))?.callsLeft, 4 + FREE_LEFT_CALLS)
    },
  )

  engine.test(
    'sessions: whatever the concurrent commands and crashes, each call is used once or given back',
    async (t) => {
      const place = await engine.createPlace(t)
      const sessions = createSessionStore(await place.open())
      const seen = {
        reserved: 0,
        exhausted: 0,
        committed: 0,
        'committed too late': 0,
        released: 0,
        left: 0,
        died: 0,
        swept: 0,
      }
      let runs = 0
      const property = fc.asyncProperty(fc.integer({ min: 1, max: 6 }), moments, async (calls, taken) => {
        await play({ place, sessions, seen }, { name: `run-${++runs}`, calls, taken })
      })
      await fc.assert(property, { numRuns: isDrill ? 40 : engine.name === 'sqlite' ? 16 : 5 })
      t.log(seen)
      for (const [outcome, times] of Object.entries(seen)) t.true(times > 0, outcome)
    },
  )
}

/** A command of one moment, at which all run concurrently; `who` picks among the calls that were reserved before. */
type Happening = { kind: 'reserve' } | { kind: 'sweep' } | { kind: 'commit' | 'release' | 'leave' | 'die'; who: number }

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'reserve' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('commit' as const, 'release' as const, 'leave' as const, 'die' as const),
      who: fc.nat(20),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'sweep' as const }) },
)
const moments = fc.array(fc.array(happening, { minLength: 1, maxLength: 5 }), { minLength: 3, maxLength: 12 })

interface Playing {
  readonly place: Place
  readonly sessions: ReturnType<typeof createSessionStore>
  /** Counts of each outcome. */
  readonly seen: Record<
    'reserved' | 'exhausted' | 'committed' | 'committed too late' | 'released' | 'left' | 'died' | 'swept',
    number
  >
}

/** Plays it; throws when a call is lost, or used twice. */
async function play(
  { place, sessions, seen }: Playing,
  { name, calls, taken }: { name: string; calls: number; taken: readonly (readonly Happening[])[] },
): Promise<void> {
  await sessions.open({ ...OPENING, sessionId: name, tokenHash: name, calls })
  const reserved: string[] = []
  let [ids, committed] = [0, 0]
  const countSwept = (swept: number): void => {
    seen.swept += swept
  }
  const happen = async (what: Happening): Promise<void> => {
    if (what.kind === 'reserve') {
      const callId = `${name}-${++ids}`
      const call = await sessions.reserve({ tokenHash: name, callId, leaseMs: LEASE_MS })
      seen[call.kind === 'reserved' ? 'reserved' : 'exhausted']++
      if (call.kind === 'reserved') reserved.push(callId)
      return
    }
    if (what.kind === 'sweep') return countSwept(await sessions.sweep())
    const callId = reserved[what.who % reserved.length]
    if (callId === undefined) return
    if (what.kind === 'release') {
      seen.released++
      return sessions.release(callId)
    }
    if (what.kind === 'leave') {
      seen.left++
      return sessions.leave(callId)
    }
    if (what.kind === 'die') {
      seen.died++
      return void (await place.sql(
        `update agent_session_call set lease_until_ms = 0 where id = '${callId}' returning id`,
      ))
    }
    if (!(await sessions.commit(callId))) return void seen['committed too late']++
    seen.committed++
    committed++
  }
  const usedByLeaving = async (): Promise<number> => {
    const [row] = await place.sql(`select left_calls from agent_session where id = '${name}'`)
    return Math.max(0, Number(row?.left_calls) - FREE_LEFT_CALLS)
  }
  for (const moment of taken) {
    await Promise.all(moment.map(happen))
    const used = committed + (await usedByLeaving())
    const open = await place.sql(`select id from agent_session_call where session_id = '${name}'`)
    const left = (await sessions.standing(name))?.callsLeft
    if (left === undefined || left + open.length + used !== calls)
      throw new Error(`of ${calls} calls ${left} are left, ${open.length} in flight and ${used} used`)
  }
  // Beyond the end of all leases everything that was not used is back.
  await place.sql('update agent_session_call set lease_until_ms = 0 returning id')
  countSwept(await sessions.sweep())
  const back = (await sessions.standing(name))?.callsLeft
  const used = committed + (await usedByLeaving())
  if (back !== calls - used) throw new Error(`of ${calls} calls ${used} were used and ${back} are back`)
}
