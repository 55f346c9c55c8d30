import fc from 'fast-check'

/** Accounts of a list, and ids of holds: few, so that steps meet. */
export const ACCOUNTS = 2
export const SLOTS = 5
const IDEMS = 12

/**
 * Something that is asked of the ledger, or befalls the owner of a hold. `late`: a hold expires, the free credits of its
 * account go elsewhere, and then it ends; by chance alone the three seldom meet.
 */
export type Step =
  | {
      readonly kind: 'append'
      readonly account: number
      readonly credits: number
      readonly idem: number
      readonly beyond: 'clip' | 'refuse'
    }
  | { readonly kind: 'take'; readonly slot: number; readonly calls: number; readonly isAfresh: boolean }
  | { readonly kind: 'end'; readonly slot: number; readonly usedCalls: number }
  | { readonly kind: 'crash'; readonly slot: number }
  | { readonly kind: 'late'; readonly slot: number }
  | { readonly kind: 'renew'; readonly account: number; readonly tier: 'free' | 'pro' | 'team' }
  | { readonly kind: 'sweep' }

const slot = fc.nat({ max: SLOTS - 1 })
const account = fc.nat({ max: ACCOUNTS - 1 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('append'),
      account,
      credits: fc.oneof(
        { weight: 3, arbitrary: fc.integer({ min: 1, max: 40 }) },
        { weight: 1, arbitrary: fc.integer({ min: -60, max: -1 }) },
      ),
      idem: fc.nat({ max: IDEMS - 1 }),
      beyond: fc.constantFrom('clip', 'refuse'),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('take'),
      slot,
      calls: fc.constantFrom(1, 1, 2),
      isAfresh: fc.constantFrom(true, true, false),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('end'), slot, usedCalls: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('crash'), slot }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('late'), slot }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('renew'), account, tier: fc.constantFrom('free', 'pro', 'team') }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('sweep') }) },
)

/** Lists of steps, taken one by one. */
export const lists: fc.Arbitrary<Step[][]> = fc
  .array(step, { minLength: 30, maxLength: 80, size: 'max' })
  .map((steps) => steps.map((step) => [step]))

/** Lists of rounds, whose steps are taken at once. */
export const roundLists: fc.Arbitrary<Step[][]> = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), {
  minLength: 15,
  maxLength: 30,
  size: 'max',
})
