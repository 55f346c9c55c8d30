import fc from 'fast-check'

const SLOTS = 4
/** A window of the model: its owner, whose name follows that of the run, and its name. */
export interface ModelWindow {
  readonly owner: string
  readonly window: string
  readonly limit: number
}

/** Two keys of a person, in two teams, with a budget each; a tag, and the gateway. Scopes of a day share its name. */
export const WINDOWS: readonly ModelWindow[] = [
  { owner: 'key:', window: 'd:1', limit: 70 },
  { owner: 'key:', window: 'n:one', limit: 90 },
  { owner: 'key:other-', window: 'd:1', limit: 60 },
  { owner: 'key:other-', window: 't:one', limit: 85 },
  { owner: 'user:', window: 'd:1', limit: 100 },
  { owner: 'team:', window: 'd:1', limit: 75 },
  { owner: 'team:other-', window: 'm:1', limit: 65 },
  { owner: 'tag:', window: 'd:1', limit: 70 },
  { owner: 'instance-', window: 'd:1', limit: 90 },
]
/** Those that are budgets, whose limits can be raised. */
export const BUDGETS: ReadonlySet<number> = new Set([1, 3])
/** Windows that a request may belong to: the lists nest, overlap, and are not in lock order on purpose. */
export const MEMBERSHIPS = [[5, 0], [8, 4, 0, 1, 5], [0], [1, 3], [7, 2, 6], [3], [2, 8, 3, 4, 6, 7], [5, 7, 8]]

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
      budget: fc.constantFrom(...BUDGETS),
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
