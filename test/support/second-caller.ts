import type { Reply } from './http-client.ts'
import { type JsonObject, valueAt } from './json.ts'

/*
 * DESIGN. Wherever a cache serves one caller, a second caller sends the same request, and must get a reply of its
 * own. Its requests differ from the first one's in the credential alone, and in `metadata`, which no cache counts:
 * stand-ins find them by it, and leave them out of scripts and counts.
 */

const MARK = 'the-second-caller'
/** Cache results of replies that were stored, or fetched by another request. */
const GIVEN: readonly unknown[] = ['hit', 'attached', 'alias', 'semantic']

let callers = 0

/** Returns the credential of a caller without earlier requests. */
export function nextCaller(): string {
  return `second-caller-${++callers}`
}

/** The members that mark a body as a second caller's. */
export const MARKED: JsonObject = { metadata: { user_id: MARK } }

/** Returns whether a second caller has sent this body. */
export function isMarked(body: JsonObject | undefined): boolean {
  return valueAt(body, 'metadata.user_id') === MARK
}

/** Returns whether a reply was stored, or fetched by another request. */
export function isGiven({ headers }: Pick<Reply, 'headers'>): boolean {
  return GIVEN.includes(headers['x-svc-cache'])
}

/** Throws when a second caller was served another caller's reply. */
export function assertOwn(prompt: string, reply: Reply): void {
  if (isGiven(reply))
    throw new Error(`A second caller was served the reply to “${prompt}”: ${reply.text.slice(0, 500)}`)
}
