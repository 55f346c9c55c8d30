import test from 'ava'
import fc from 'fast-check'
import { ConnectionShares } from './connection-shares.ts'

const late = () => new Error('none free')

/** Takes as many connections as the caller gets at once. */
function takeAll(shares: ConnectionShares, caller: string): number {
  for (let taken = 0; ; taken++) if (!shares.tryTake(caller)) return taken
}

test('connection shares: one caller gets three quarters, and each further one three quarters of the rest', (t) => {
  const shares = new ConnectionShares(64)
  t.deepEqual(
    ['a', 'b', 'c', 'd'].map((caller) => takeAll(shares, caller)),
    [48, 12, 3, 1],
  )
})

test('connection shares: a single connection is available', (t) => {
  const shares = new ConnectionShares(1)
  t.is(takeAll(shares, 'a'), 1)
  shares.release('a')
  t.is(takeAll(shares, 'b'), 1)
})

test('connection shares: a released connection goes to the caller with the fewest, then in turns', async (t) => {
  const shares = new ConnectionShares(1)
  const order: string[] = []
  const wait = async (caller: string) => {
    await shares.wait(caller, { onTimeout: late })
    order.push(caller)
  }
  shares.tryTake('a')
  const waits = [wait('a'), wait('b'), wait('b'), wait('c')]
  for (const caller of ['a', 'a', 'b', 'c']) {
    shares.release(caller)
    await new Promise(setImmediate)
  }
  await Promise.all(waits)
  t.deepEqual(order, ['a', 'b', 'c', 'b'])
})

test('connection shares: a cancelled wait leaves nothing behind', async (t) => {
  const shares = new ConnectionShares(1)
  shares.tryTake('a')
  const leaving = new AbortController()
  const left = t.throwsAsync(shares.wait('b', { signal: leaving.signal, onTimeout: late }), { message: 'left' })
  const slow = t.throwsAsync(shares.wait('b', { timeoutMs: 1, onTimeout: late }), { message: 'none free' })
  leaving.abort(new Error('left'))
  await Promise.all([left, slow])
  shares.release('a')
  t.true(shares.tryTake('c'))
})

test('connection shares: a wait that is cancelled at the moment it is served passes its connection on', async (t) => {
  const shares = new ConnectionShares(1)
  shares.tryTake('a')
  const leaving = new AbortController()
  const waiting = shares.wait('b', { signal: leaving.signal, onTimeout: late })
  leaving.abort(new Error('left'))
  shares.release('a')
  await t.throwsAsync(waiting, { message: 'left' })
  t.true(shares.tryTake('c'))
})

test('connection shares: no more connections are taken than exist, and all are returned', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean())),
      fc.integer({ min: 1, max: 9 }),
      (steps, total) => {
        const shares = new ConnectionShares(total)
        const held: string[] = []
        for (const [caller, takes] of steps) {
          if (takes && shares.tryTake(caller)) held.push(caller)
          else if (!takes && held.includes(caller)) shares.release(held.splice(held.indexOf(caller), 1)[0] ?? '')
          t.true(held.length <= total)
        }
        for (const caller of held) shares.release(caller)
        return takeAll(shares, 'd') === takeAll(new ConnectionShares(total), 'd')
      },
    ),
  )
})
