import { mock } from 'node:test'
import test from 'ava'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import type { HeldPayment, PaymentGateway, PaymentStore } from '../../core/ports/payments.ts'
import { createOpenPayment, type OpenPayment } from './open-payment.ts'

const LEASE_MS = 3000
const HELD: HeldPayment = {
  challengeId: 'c',
  owner: 'o',
  fence: 1,
  state: 'captured',
  settlement: 'manual',
  reference: 'pi',
}

/** Opens a captured payment, and counts the renewals of its lease. */
function open() {
  let renewals = 0
  const store = {
    renew: async () => void renewals++,
    move: async () => true,
    release: async () => {},
    leave: async () => 'given-back',
  }
  const payment = createOpenPayment(HELD, {
    // Safe: no other operation is used here.
    store: store as unknown as PaymentStore,
    gateway: {} as PaymentGateway,
    leaseMs: LEASE_MS,
    log: createRecordingLog(),
    onClosed() {},
  })
  return { payment, renewals: () => renewals }
}

/** Lets time pass second by second, with the work that each second begins. */
async function passSeconds(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    mock.timers.tick(1000)
    await new Promise(setImmediate)
  }
}

test.before(() => mock.timers.enable({ apis: ['setTimeout'] }))
test.after.always(() => mock.timers.reset())

const ENDS: Record<string, (payment: OpenPayment) => Promise<void>> = {
  consumed: (payment) => payment.consume(),
  failed: (payment) => payment.fail(),
  left: (payment) => payment.leave(),
  released: (payment) => payment.release(),
}
for (const [name, end] of Object.entries(ENDS))
  test.serial(`open payment: its lease is renewed until it is ${name}`, async (t) => {
    const { payment, renewals } = open()
    await passSeconds(3)
    t.is(renewals(), 3)
    await end(payment)
    await passSeconds(10)
    t.is(renewals(), 3)
  })
