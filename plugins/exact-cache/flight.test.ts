import test from 'ava'
import fc from 'fast-check'
import { BytesReply } from 'turnpike/plugin/bytes'
import { Flight, WholeReply } from './flight.ts'

test('flight: continues while any client is present', (t) => {
  const order = fc.array(fc.constantFrom('join', 'leave-first', 'leave-last'), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(order, (steps) => {
      const flight = new Flight()
      const present: AbortController[] = []
      let isDeserted = false
      for (const step of ['join', ...steps]) {
        if (isDeserted) break
        if (step === 'join') {
          const caller = new AbortController()
          present.push(caller)
          flight.join(caller.signal)
        } else (step === 'leave-first' ? present.shift() : present.pop())?.abort(new Error('the client left'))
        isDeserted = present.length === 0
        t.is(flight.signal.aborted, isDeserted)
      }
    }),
  )
})

test('flight: is aborted with the reason of the last client to leave', (t) => {
  const flight = new Flight()
  const callers = [new AbortController(), new AbortController()]
  for (const { signal } of callers) flight.join(signal)
  callers[1]?.abort(new Error('second'))
  callers[0]?.abort(new Error('first'))
  t.is(flight.signal.reason.message, 'first')
})

test('flight: a caller who left before joining does not keep it going', (t) => {
  const flight = new Flight()
  flight.join(AbortSignal.abort(new Error('gone')))
  t.true(flight.signal.aborted)
})

test('flight: a caller who left before joining does not end it for the others', (t) => {
  const flight = new Flight()
  flight.join(new AbortController().signal)
  flight.join(AbortSignal.abort(new Error('gone')))
  t.false(flight.signal.aborted)
})

test('flight: accepts no client once all have left', (t) => {
  const flight = new Flight()
  const caller = new AbortController()
  flight.join(caller.signal)
  t.true(flight.takesNewcomers)
  caller.abort()
  t.false(flight.takesNewcomers)
})

test('flight: all waiters get the result', async (t) => {
  const flight = new Flight()
  const waiting = [flight.result, flight.result]
  const reply = new BytesReply(400, {}, Buffer.from('{}'))
  const whole = new WholeReply(reply)
  flight.resolve({ kind: 'whole', whole })
  for (const result of await Promise.all(waiting)) t.like(result, { kind: 'whole', whole })
})

test('flight: all waiters get the failure, and none is required', async (t) => {
  const flight = new Flight()
  const waiting = [flight.result, flight.result]
  flight.fail(new Error('broke'))
  for (const result of waiting) await t.throwsAsync(result, { message: 'broke' })
  new Flight().fail(new Error('without a waiter: it must not become an unhandled rejection'))
})
