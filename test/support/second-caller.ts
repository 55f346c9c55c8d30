import type { Reply } from './http-client.ts'
import { type JsonObject, valueAt } from './json.ts'

/*
 * DESIGN. Wherever a cache gives one caller an answer, a second caller asks the same thing, and must get an answer of its
 * own. Its requests differ from the first one's in the credential alone, and in `metadata`, which no cache counts:
 * stand-ins find them by it, and leave them out of scripts and counts.
 */

const MARK = 'the-second-caller'
/** What caches say of replies that they had, or that another request has fetched. */
const GIVEN: readonly unknown[] = ['hit', 'attached', 'alias', 'semantic']

let callers = 0

/** The credential of a caller who has asked nothing before. */
export function nextCaller(): string {
  return `second-caller-${++callers}`
}

/** The members that mark a body as a second caller's. */
export const MARKED: JsonObject = { metadata: { user_id: MARK } }

/** True for a body that a second caller has sent. */
export function isMarked(body: JsonObject | undefined): boolean {
  return valueAt(body, 'metadata.user_id') === MARK
}

/** True for a reply that a cache had, or that another request has fetched. */
export function isGiven({ headers }: Pick<Reply, 'headers'>): boolean {
  return GIVEN.includes(headers['x-svc-cache'])
}

/** Throws when a second caller was given what another one has asked for. */
export function assertOwn(prompt: string, reply: Reply): void {
  if (isGiven(reply))
    throw new Error(`A second caller was given the answer to “${prompt}”: ${reply.text.slice(0, 500)}`)
}
