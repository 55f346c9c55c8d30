const LONGEST_PATH = 2000
/** A path of this site: one slash, then neither a slash nor a backslash, which browsers read as one. */
const LOCAL = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/

/** Returns a path to return to after a sign-in: `/` unless it is one of this site. */
export function returnPathOf(text: unknown): string {
  return typeof text === 'string' && text.length <= LONGEST_PATH && LOCAL.test(text) ? text : '/'
}
