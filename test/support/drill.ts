/**
 * How much is tried. `npm test` tries a part with seeds that never change, so that its verdict is the same each time; the
 * drills (`npm run drill`) try everything, with new seeds.
 */
export const isDrill = process.env.TURNPIKE_DRILL === 'on'

/** All cases in a drill; in `npm test` those at the given places. */
export function sampled<Case>(cases: readonly Case[], ...places: readonly number[]): readonly Case[] {
  return isDrill ? cases : cases.filter((_, index) => places.includes(index))
}
