import fc from 'fast-check'

const SLOTS = 4
/** The limits of the windows. */
export const LIMITS = [90, 120, 80, 110]
/** Those of the windows that are budgets, whose limits can be raised. */
export const BUDGETS: Readonly<Record<number, string>> = { 1: 'n:one', 3: 't:one' }
/** Windows that a request may belong to; the lists are not in lock order on purpose. */
export const MEMBERSHIPS = [[2, 0], [3, 1, 2], [0], [1, 3], [3, 2, 0], [3], [2, 1]]

/** Something that is asked of a ledger, or befalls the owner of a hold. */
export type Step =
  | { readonly kind: 'reserve'; readonly slot: number; readonly amount: number; readonly member: number }
  | { readonly kind: 'grow'; readonly slot: number; readonly by: number }
  | { readonly kind: 'settle'; readonly slot: number; readonly share: number }
  | { readonly kind: 'crash'; readonly slot: number }
  | { readonly kind: 'sweep' }
  | { readonly kind: 'raise'; readonly budget: number; readonly by: number }

const slot = fc.nat({ max: SLOTS - 1 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('reserve'),
      slot,
      amount: fc.integer({ min: 1, max: 40 }),
      member: fc.nat({ max: MEMBERSHIPS.length - 1 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('grow'), slot, by: fc.integer({ min: 0, max: 30 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('settle'), slot, share: fc.integer({ min: 0, max: 4 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('crash'), slot }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('sweep') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('raise'),
      budget: fc.constantFrom(...Object.keys(BUDGETS).map(Number)),
      by: fc.integer({ min: 1, max: 9 }),
    }),
  },
)

/** Rounds of steps; large, or the caps are never reached. */
export const rounds: fc.Arbitrary<Step[][]> = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), {
  minLength: 20,
  maxLength: 60,
  size: 'max',
})
