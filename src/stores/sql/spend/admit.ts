import type { CallOrder, CallReservation } from '../../../core/ports/calls.ts'
import type { Reservation, SpendHold } from '../../../core/ports/spend-ledger.ts'
import { holdOrder } from '../credits/take.ts'
import { type Command, Undo } from '../engine/command.ts'
import { reserveSpend } from './holds.ts'

/** A hold of money and of the call that goes with it. */
export interface AdmissionOrder {
  readonly hold: SpendHold
  readonly call: CallOrder
}

/** Outcome of both. `call` is unset where a window has refused: then no call was requested. */
export interface AdmissionOutcome {
  readonly spend: Reservation
  readonly call: CallReservation | undefined
}

/** Holds money and a call, or neither. */
export const admitSpend: Command<AdmissionOrder, AdmissionOutcome> = async (db, order, now) => {
  const spend = await reserveSpend(db, order.hold, now).catch((error: unknown) => {
    if (!(error instanceof Undo)) throw error
    throw new Undo({ spend: error.output, call: undefined })
  })
  const call = await holdOrder(db, order.call, now)
  if (!call.ok) throw new Undo({ spend, call })
  return { spend, call }
}
