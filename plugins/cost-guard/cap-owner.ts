/** Owner of the money of a window, as refusals and headers name it. */
export interface CapOwner {
  readonly cap: 'key' | 'person' | 'team' | 'tag' | 'gateway'
  /** Name of a tag; unset for other owners. */
  readonly tag?: string
  /** Words of a message: `for …`. */
  readonly words: string
}

const KEY: CapOwner = { cap: 'key', words: 'this key' }
const GATEWAY: CapOwner = { cap: 'gateway', words: 'this gateway' }
const BY_KIND: Readonly<Record<string, CapOwner>> = {
  user: { cap: 'person', words: 'all keys of this person' },
  team: { cap: 'team', words: 'this team' },
}
const TAG = 'tag:'

/** Returns the owner that a window's scope names: `team:team_1`, `tag:shop`, `instance`, … */
export function capOwner(scope: string): CapOwner {
  if (scope === 'instance') return GATEWAY
  if (!scope.startsWith(TAG)) return BY_KIND[scope.slice(0, scope.indexOf(':'))] ?? KEY
  const tag = scope.slice(TAG.length)
  return { cap: 'tag', tag, words: `the tag \`${tag}\`` }
}
