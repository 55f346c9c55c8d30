import { createSessionStore } from '../../../../src/stores/sql/payments/sessions.ts'
import { engines } from '../places.ts'

const OPENING = { sessionId: 's', tokenHash: 't', reference: 'pi_1', calls: 10, ttlMs: 3_600_000 }
const LEASE_MS = 3_600_000

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
}
