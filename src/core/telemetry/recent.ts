/** Spend of a key in this month and on this day, of UTC. */
export interface KeySpend {
  /** `key:` and the key's id. */
  readonly scope: string
  readonly monthNanoUsd: number
  readonly dayNanoUsd: number
}

/** A refused request. */
export interface RecentRefusal {
  readonly keyId: string | null
  readonly userId: string | null
  readonly teamId: string | null
  readonly tags: readonly string[]
  /** The error's code first. */
  readonly reason: string
  readonly atMs: number
}
