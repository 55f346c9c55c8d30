import { randomInt } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { RaiseAlert } from '../../core/ports/alerts.ts'
import type { Clock } from '../../core/ports/clock.ts'
import { type FindNames, toNames } from '../../core/ports/names.ts'
import type { Caller } from '../../core/request/caller.ts'
import { entryLimit } from '../../core/system/entry-limit.ts'
import { keyInWords } from './in-words.ts'

const MOST_KEYS = 10_000
const WINDOW_MS = 3_600_000
const FNV_PRIME = 0x01000193
const IPV6_GROUPS = 3

interface Seen {
  readonly sinceMs: number
  /** Salted hashes of networks. */
  readonly networks: Set<number>
}

/** The key of a request, and its owner. */
type KeyUser = Pick<Caller, 'keyId' | 'userId'>

/** Options of `KeyNetworks`. */
export interface KeyNetworksOptions {
  /** Networks within an hour from which a key counts as leaked. */
  readonly most: number
  readonly repeatMs: number
  readonly clock: Clock
  readonly raise: RaiseAlert
  readonly findNames: FindNames
}

/**
 * Counts the networks from which each key is used (IPv4 /24, IPv6 /48), in this process and within an hour: a key that was
 * published is used from many. Keeps salted hashes of 32 bits, at most `most` of each key, and no addresses.
 */
export class KeyNetworks {
  readonly #options: KeyNetworksOptions
  readonly #salt = randomInt(2 ** 32)
  readonly #keys = new LRUCache<string, Seen>(entryLimit(MOST_KEYS))

  constructor(options: KeyNetworksOptions) {
    this.#options = options
  }

  /** Notes a use of a key by an address. Never throws and never waits. */
  note({ keyId, userId }: KeyUser, address: string | undefined): void {
    const { most, clock } = this.#options
    if (keyId === undefined || address === undefined) return
    const nowMs = clock.nowMs()
    let seen = this.#keys.get(keyId)
    if (seen === undefined || nowMs - seen.sinceMs >= WINDOW_MS) {
      seen = { sinceMs: nowMs, networks: new Set() }
      this.#keys.set(keyId, seen)
    }
    const before = seen.networks.size
    if (before >= most) return
    seen.networks.add(hashOf(networkOf(address), this.#salt))
    if (before < most && seen.networks.size >= most) void this.#raise(keyId, userId)
  }

  /** Reports a key by the names that it and its owner have; by their ids while the database cannot be reached. */
  async #raise(keyId: string, userId: string | undefined): Promise<void> {
    const { most, repeatMs, raise, findNames } = this.#options
    const ids = { key: [keyId], person: userId === undefined ? [] : [userId], team: [] }
    const key = keyInWords(toNames(await findNames({ ids }).catch(() => [])), { keyId, userId })
    raise({
      kind: 'key',
      subject: keyId,
      severity: 'critical',
      title: `${key} was used from ${most} networks within an hour. It may have leaked: revoke it, or give each machine a key of its own.`,
      details: { key: keyId, networks: most },
      dedupeKey: `networks:${keyId}`,
      quietMs: repeatMs,
    })
  }
}

/** Returns the part of an address that one site shares: an IPv4 /24, an IPv6 /48. */
function networkOf(address: string): string {
  const text = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
  if (text.includes(':')) return text.split(':').slice(0, IPV6_GROUPS).join(':')
  return text.slice(0, text.lastIndexOf('.'))
}

/** FNV-1a of 32 bits. */
function hashOf(text: string, salt: number): number {
  let hash = salt
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return hash >>> 0
}
