import type { Random } from './random.ts'

/** A tool call and its result, as a session has them. */
export interface Act {
  readonly name: string
  readonly input: Record<string, unknown>
  readonly result: string
  /** Set if the dialect marks errors. */
  readonly isError?: boolean
}

/** The tools, files and language of one kind of agent. Each function returns the acts of a session for a number. */
export interface World {
  readonly name: string
  /** Remarks of the model before a call. */
  readonly remarks: readonly string[]
  /** Texts of a model that repeats itself without calls, with what the harness answers. */
  readonly texts: readonly (readonly [string, string])[]
  /** One observation: each number has the same call and result. */
  observation(random: Random): Act
  /** Attempts at one thing that differ in their arguments and fail alike. */
  attempts(random: Random): (index: number) => Act
  /** Calls that differ, with one result that is not an error. */
  searches(random: Random): (index: number) => Act
  /** Calls that differ in a counter or a time, with one result. */
  numbered(random: Random): (index: number) => Act
  /** Ordinary work: each number has another call and another result. */
  work(random: Random): (index: number) => Act
  /** A listing by pages. */
  pages(random: Random): (index: number) => Act
  /** A check of one state, which other calls change. */
  status(random: Random): Act
  /** Runs of one command with other results. */
  runs(random: Random): (index: number) => Act
  /** A look at something that goes on: the result of each number shows more of it. */
  poll(random: Random): (index: number) => Act
  /** Changes that are confirmed with few words, the same each time. */
  changes(random: Random): (index: number) => Act
  /** Searches that find nothing, each for something else. */
  misses(random: Random): (index: number) => Act
}
