import test from 'ava'
import { createBillingStore } from '../../../src/stores/sql/billing/store.ts'
import { engines } from './places.ts'

for (const engine of engines)
  test(`billing: a reversal that was fetched before the applied one changes nothing (${engine.name})`, async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const billing = createBillingStore(store, { nowMs: Date.now })
    const taken = async () =>
      Number((await place.sql(`select taken_credits from billing_payment where id = 'invoice:1'`))[0]?.taken_credits)
    await billing.applyPayment({ paymentId: 'invoice:1', accountId: 'ada', credits: 100, proratedCredits: 0 })
    const disputed = { paymentId: 'invoice:1', share: 1, isDisputed: true }
    const older = { ticket: await billing.takeTicket() }
    const newer = { ticket: await billing.takeTicket() }
    await billing.applyReversal(disputed, older)
    t.is(await taken(), 100)
    // The dispute was won; the older fetch arrives again.
    await billing.applyReversal({ ...disputed, share: 0 }, newer)
    t.is(await taken(), 0)
    await billing.applyReversal(disputed, older)
    t.is(await taken(), 0)
  })
