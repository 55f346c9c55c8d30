import fc from 'fast-check'

/** Challenges that the steps work on. */
export const SLOTS = 2

/** State that a step moves a payment to. */
export type Target = 'authorized' | 'captured' | 'consumed' | 'failed' | 'expired'

/** A step; `who` picks among the present and former holders of the slot's payment, the latest first. */
export type Step =
  | { kind: 'claim'; slot: number; token: 'a' | 'b'; window: 'known' | 'lost' | 'over'; atOnce: number }
  | { kind: 'move'; slot: number; who: number; to: Target; atOnce: number }
  | { kind: 'renew' | 'release' | 'leave'; slot: number; who: number }
  | { kind: 'crash' | 'due'; slot: number }
  | { kind: 'reap' }

const slot = fc.nat(SLOTS - 1)
// Most steps are those of the latest owner.
const who = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) })
/** Ends are rare: most payments go their whole way. */
const to = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('authorized' as const, 'captured' as const) },
  { weight: 2, arbitrary: fc.constantFrom('consumed' as const) },
  { weight: 1, arbitrary: fc.constantFrom('failed' as const, 'expired' as const) },
)
const atOnce = fc.constantFrom(1, 1, 1, 3)

/** Steps in their order. */
export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('claim' as const),
        slot,
        token: fc.constantFrom(...Array<'a'>(8).fill('a'), 'b' as const),
        window: fc.constantFrom(...Array<'known'>(8).fill('known'), 'lost' as const, 'over' as const),
        atOnce,
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant('move' as const), slot, who, to, atOnce }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('renew' as const, 'release' as const), slot, who }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave' as const), slot, who }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constantFrom('crash' as const, 'crash' as const, 'crash' as const, 'crash' as const, 'due' as const),
        slot,
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'reap' as const }) },
  ),
  { minLength: 40, maxLength: 60 },
)
