/**
 * Extent of the tests. `npm test` runs a part with constant seeds, so that its result is the same each time; the
 * drills (`npm run drill`) run everything, with new seeds.
 */
export const isDrill = process.env.TURNPIKE_DRILL === 'on'

/** Returns all cases in a drill; in `npm test` those at the given places. */
export function sampled<Case>(cases: readonly Case[], ...places: readonly number[]): readonly Case[] {
  return isDrill ? cases : cases.filter((_, index) => places.includes(index))
}
