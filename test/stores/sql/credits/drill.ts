import { isDrill } from '../../../support/drill.ts'

/*
 * How much is tried. `npm run drill:ledger` tries as much as is tried before a release: 10,000 lists of commands and
 * 20 killed processes; the suite tries what a minute allows.
 */

/** Lists of commands, one after another; rounds of commands at once, on each engine; processes killed, on each engine. */
export const drill = isDrill ? { lists: 10_000, rounds: 200, kills: 20 } : { lists: 60, rounds: 6, kills: 1 }
