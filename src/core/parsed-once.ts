/**
 * Options of zod's `parse` for values that are read once: compiling a parser for each object takes longer than parsing it
 * without, a tenth of a start's CPU in all.
 */
export const PARSED_ONCE = { jitless: true } as const
