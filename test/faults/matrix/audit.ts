import type { ExecutionContext } from 'ava'
import { parsePublicKeys } from '../../../src/journal/receipts/public-key.ts'
import { violationsIn } from '../../stores/sql/credits/books.ts'
import { eventually } from '../../support/eventually.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { send } from '../../support/http-client.ts'
import { assertLedger } from '../../support/ledger.ts'
import { booksOf } from '../../support/stripe/machine-payments.ts'
import { CAP_USD, type Plant } from './plant.ts'

/** Log lines that are faults. */
const ALARM = /unhandled|uncaught|MaxListenersExceeded/i
const NANO_USD = 1e9

/** Inputs of the audit, besides the database. */
export interface Witness {
  readonly plant: Plant
  /** One that answers now. */
  readonly gateway: GatewayProcess
}

/** Asserts that nothing was lost: receipts, caps, credits and calls, payments. */
export async function assertNothingLost(t: ExecutionContext, witness: Witness): Promise<void> {
  await assertReceipts(t, witness)
  await assertSpending(t, witness)
  t.deepEqual(await witness.plant.sql(violationsIn('%')), [], 'the books of calls and credits agree')
  assertPayments(t, witness)
  t.deepEqual(alarmsOf(witness.gateway), [])
}

async function assertReceipts(t: ExecutionContext, { plant, gateway }: Witness): Promise<void> {
  const { replies } = plant.tally
  const ids = replies.map(({ headers }) => String(headers['x-svc-receipt']))
  t.is(new Set(ids).size, ids.length, 'no two replies have one receipt')
  if (ids.length === 0) return
  const stored = new Set<string>()
  const words = ids.map((id) => `'${id}'`).join()
  await eventually(async () => {
    for (const { id } of await plant.sql(`select id from receipt where id in (${words})`)) stored.add(String(id))
    return ids.every((id) => stored.has(id))
  }, 'each reply has its receipt')
  const keys = parsePublicKeys((await send(gateway.url, { method: 'GET', path: '/.well-known/turnpike-keys' })).text)
  const store = await plant.openStore()
  await assertLedger(t, store, keys).finally(() => store.close())
}

async function assertSpending(t: ExecutionContext, { plant }: Witness): Promise<void> {
  const over = `select * from spend_window where settled_nano_usd + held_nano_usd > ${CAP_USD * NANO_USD}`
  t.deepEqual(await plant.sql(over), [], 'no cap is overrun')
  // One statement: a reservation pool begins and ends a hold of its own by itself.
  const held = `select id from spend_hold where state = 'open'
    union all select scope from spend_window where held_nano_usd <> 0`
  await eventually(async () => (await plant.sql(held)).length === 0, 'all money that was held is settled')
}

/** Asserts that each payment is taken if, and only if, it was answered. */
function assertPayments(t: ExecutionContext, { plant }: Witness): void {
  const { world } = plant.stripe
  const { answered } = plant.tally
  for (const { challenge } of answered)
    t.like(booksOf(world, challenge.id), { intents: 1, capturedCents: 50, heldCents: 0 })
  t.is(booksOf(world).capturedCents, 50 * answered.length, 'nothing was taken for nothing')
}

/** Returns lines of a log that report a fault in the code. */
export function alarmsOf(gateway: GatewayProcess): string[] {
  return gateway
    .log()
    .split('\n')
    .filter((line) => ALARM.test(line))
    .map((line) => line.slice(0, 500))
}
