/**
 * DESIGN — the fault matrix
 *
 *   cells.ts ──┬──► docs/reliability.md (scripts/docs/reliability-page.ts)
 *              └──► one test for each cell: matrix/*.test.ts spoil what the cell names, send every kind of request, and
 *                   compare each answer with this table
 *
 * Faults are made outside of the gateway: a relay that refuses, hangs, resets or sends garbage, engines that report that they
 * are full, a small disk. Faults injected inside would test what their author thought of.
 *
 * Requests that `fails` does not name work. So every promise of the page is tested.
 */

/** Components that may fail. */
export const COMPONENTS = {
  redis: 'Redis',
  postgres: 'PostgreSQL',
  provider: 'The provider',
  stripe: 'Stripe',
  disk: 'The disk',
  clock: 'The clock',
  gateway: 'One gateway',
  network: 'The network between any two',
} as const

/** Kinds of faults. */
export const FAULTS = ['refuses', 'hangs', 'slow', 'resets', 'garbage', 'full'] as const

/** Requests that are sent during a fault, with their names on the page. */
export const PROBES = {
  health: 'health probe',
  call: 'calls with a key',
  stream: 'streams',
  hit: 'cache hits',
  capped: 'calls under a cap',
  running: 'in-flight replies',
  keys: 'key management',
  paid: 'paid calls',
  checkout: 'checkout',
  local: 'local mode without a guard',
  localCapped: 'local mode under a cap',
} as const

export type Component = keyof typeof COMPONENTS
export type Fault = (typeof FAULTS)[number]
export type Probe = keyof typeof PROBES

/**
 * How a request fails, in an orderly way: a status with its error, or, for a stream that has begun, an error event. `402`:
 * a fresh challenge, and no money moved.
 */
export type Failure = '401' | '402' | '429' | '502' | '503' | 'error event'

/** Seconds within which a request is answered, unless its cell has another bound. */
export const DEFAULT_WITHIN_S = 5

/** Promise for a component and a fault. */
export interface Cell {
  /** The behaviour, in a sentence for operators. */
  readonly says: string
  /** Failure of these requests, or one of several; all others work. */
  readonly fails?: Readonly<Partial<Record<Probe, Failure | readonly (Failure | 'works')[]>>>
  /** Every request is answered within so many seconds. */
  readonly withinSeconds?: number
}

/** Reason for a missing cell. */
export interface NoCell {
  readonly cannot: string
}

/** One component. */
export interface Row {
  /** Data that are never lost, whichever fault. */
  readonly kept: string
  readonly cells: Readonly<Record<Fault, Cell | NoCell>>
  /** Recovery after the fault; checked after each of its cells. */
  readonly comesBack: string
  /** Working and failing requests, where they are not the same for the whole row. */
  readonly where?: string
}

/** A caller far from every cap is served as long as the reservation pool lasts, which holds money for many calls. */
const FROM_TILLS = { localCapped: ['works', '503'] } as const

const NO_BOOKS = {
  call: '503',
  stream: '503',
  hit: '503',
  capped: '503',
  keys: '503',
  paid: '503',
  checkout: '503',
  localCapped: '503',
} as const satisfies Cell['fails']

const NOBODY_ANSWERS = {
  call: '502',
  stream: '502',
  capped: '502',
  paid: '502',
  local: '502',
  localCapped: '502',
} as const satisfies Cell['fails']

const NO_STRIPE = { paid: '503', checkout: '503' } as const satisfies Cell['fails']

/** Promises for each component and fault. */
export const MATRIX: Readonly<Record<Component, Row>> = {
  redis: {
    kept: 'Only stored replies, which are requested again, and rate-limit counts are in Redis alone.',
    comesBack: 'Within ten seconds connections, stored replies and shared limits are back.',
    cells: {
      refuses: { says: 'Caches miss; each instance counts limits alone.' },
      hangs: { says: 'The same; one request a second waits 250 ms for it.' },
      slow: { says: 'Hits within 250 ms, misses beyond that.' },
      resets: { says: 'As if it refused.' },
      garbage: { says: 'As if it refused; invalid data closes the connection, never the process.' },
      full: { says: 'Stored replies may be found, new ones are not stored; each instance counts limits alone.' },
    },
  },
  postgres: {
    kept: 'Acknowledged writes are on its disk. Receipts, settlements and counted calls wait in memory until it is back.',
    comesBack: 'The next request reconnects; waiting writes complete within seconds.',
    cells: {
      refuses: { says: 'Requests that need the ledger are refused at once.', fails: NO_BOOKS },
      hangs: { says: 'Requests that need the ledger are refused after two seconds.', fails: NO_BOOKS },
      slow: { says: 'Everything takes longer.' },
      resets: {
        says: 'As if it refused; open transactions are rolled back, or found committed on retry.',
        fails: NO_BOOKS,
      },
      garbage: { says: 'As if it hung.', fails: NO_BOOKS },
      full: {
        says: 'Read-only, or out of connections: requests that write are refused.',
        fails: { ...NO_BOOKS, keys: ['works', '503'] },
      },
    },
  },
  provider: {
    kept: 'A failed call costs nothing; its payment stays held for a retry, or is released.',
    comesBack: 'The next call succeeds.',
    cells: {
      refuses: {
        says: 'After three attempts the fallback is called; without one the call fails. Cache hits continue.',
        fails: { ...NOBODY_ANSWERS, running: 'error event' },
      },
      hangs: {
        says: 'Times out after `providers.timeouts`: `first_byte` before a reply begins, `idle` within it.',
        fails: { ...NOBODY_ANSWERS, stream: ['502', 'error event'], running: 'error event' },
        withinSeconds: 45,
      },
      slow: { says: 'Relayed as it arrives, with pings to clients.' },
      resets: { says: 'As if it refused.', fails: { ...NOBODY_ANSWERS, running: 'error event' } },
      garbage: { says: 'As if it refused.', fails: { ...NOBODY_ANSWERS, running: 'error event' } },
      full: {
        says: 'Overload (529) is retried, then 502. Its own rate limit (429) reaches the client unchanged.',
        fails: {
          call: ['502', '429'],
          stream: ['502', '429'],
          capped: ['502', '429'],
          paid: ['502', '429'],
          local: ['502', '429'],
          localCapped: ['502', '429'],
        },
      },
    },
  },
  stripe: {
    kept: 'Held or captured payments: the same credential continues, and never pays twice.',
    comesBack: 'The next payment succeeds; a payment in doubt is looked up at Stripe.',
    cells: {
      refuses: { says: 'Purchases and payments fail; everything else works.', fails: NO_STRIPE },
      hangs: { says: 'The same, after three attempts of ten seconds.', fails: NO_STRIPE, withinSeconds: 40 },
      slow: { says: 'Payments take longer.' },
      resets: { says: 'As if it refused.', fails: NO_STRIPE },
      garbage: { says: 'As if it refused.', fails: NO_STRIPE },
      full: { says: 'Its rate limit (429): as if it refused.', fails: NO_STRIPE },
    },
  },
  disk: {
    kept: 'With SQLite: acknowledged writes. A failed write has no effect, and its request is refused.',
    comesBack: 'The next write succeeds. After damage: stop, restore the backup, start.',
    cells: {
      refuses: {
        says: 'Requests that write are refused; all others work.',
        fails: { ...NO_BOOKS, ...FROM_TILLS, keys: ['works', '503'], checkout: ['works', '503'] },
      },
      hangs: {
        says: 'The same, after two seconds; a separate thread waits for the disk.',
        fails: { ...NO_BOOKS, ...FROM_TILLS, keys: ['works', '503'] },
      },
      slow: { says: 'Writes take longer; many share one commit.' },
      resets: { cannot: 'A disk has no connection; one that disappears refuses.' },
      garbage: {
        says: 'A damaged database prevents start-up, and is named. At run time, requests that need it are 503.',
      },
      full: {
        says: 'As if it refused.',
        fails: { ...NO_BOOKS, ...FROM_TILLS, keys: ['works', '503'], checkout: ['works', '503'] },
      },
    },
  },
  clock: {
    kept: 'Holds, caps and payments are decided once, at any time.',
    comesBack: 'No action needed.',
    cells: {
      refuses: { cannot: 'A clock read always succeeds.' },
      hangs: { says: 'A stopped clock expires no lease and no stored reply.' },
      slow: { says: 'The same at half speed.' },
      resets: { says: 'Back by an hour: leases and stored replies last an hour longer; rate limits are unaffected.' },
      garbage: {
        says: 'Forward by an hour: shorter tokens, challenges and stored replies have expired.',
        fails: { keys: '401', paid: '402', checkout: '401' },
      },
      full: { cannot: 'A clock holds nothing.' },
    },
  },
  gateway: {
    kept: 'What it had acknowledged. Its holds end with their leases; any other instance continues its payments.',
    comesBack: 'It serves again; a killed one is restarted.',
    where: 'everything, on the others',
    cells: {
      refuses: { says: 'Killed: its in-flight replies break, and clients retry elsewhere.' },
      hangs: { says: 'Frozen: the others take over its leases when they expire.' },
      slow: { says: 'With a tenth of its CPU it answers late.' },
      resets: { says: 'Killed in the middle of its replies: as if it refused.' },
      garbage: {
        cannot: 'Wrong replies are bugs, which other tests look for.',
      },
      full: { says: 'Out of file descriptors: it accepts no connections until some are free.' },
    },
  },
  network: {
    kept: 'As for the service behind the link. Gateways never talk to each other, only to shared services.',
    comesBack: 'As for the service behind the link.',
    where: 'as for that service; everything, on the others',
    cells: {
      refuses: {
        says: 'One gateway acts as if the service refused; the others work, and the ledgers agree.',
      },
      hangs: { says: 'As if the service hung: packets are lost.' },
      slow: { says: 'As if the service were slow.' },
      resets: { says: 'As if the service reset connections.' },
      garbage: { says: 'As if the service sent garbage.' },
      full: { cannot: 'A full link is slow.' },
    },
  },
}
