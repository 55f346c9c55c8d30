/**
 * Longest wait of a test for what must happen, in milliseconds. The slowest test of the suite needs 6 s alone on two cores and
 * 42 s in `npm test` beside five busy programs.
 */
export const PATIENCE_MS = 90_000
