/**
 * DESIGN — the fault matrix
 *
 *   cells.ts ──┬──► docs/reliability.md (scripts/docs/reliability-page.ts)
 *              └──► one test for each cell: matrix/*.test.ts spoil what the cell names, send every kind of request, and
 *                   compare each answer with what stands here
 *
 * What is not named in `fails` works. So the page cannot promise what no test looks at.
 */

/** What may fail. */
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

/** How it may fail. */
export const FAULTS = ['refuses', 'hangs', 'slow', 'resets', 'garbage', 'full'] as const

/** What is sent while it fails, and how the page calls it. */
export const PROBES = {
  health: 'the health probe',
  call: 'calls by key',
  stream: 'streams',
  hit: 'repeated questions',
  capped: 'calls under a cap',
  running: 'replies that run',
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

/** Within how many seconds a request is answered, unless its cell says otherwise. */
export const DEFAULT_WITHIN_S = 5

/** What is promised. */
export interface Cell {
  /** What happens, in a sentence for operators. */
  readonly says: string
  /** How these requests fail, or one of several ways; all others work. */
  readonly fails?: Readonly<Partial<Record<Probe, Failure | readonly (Failure | 'works')[]>>>
  /** Every request is answered within so many seconds. */
  readonly withinSeconds?: number
}

/** Why there is no such cell. */
export interface NoCell {
  readonly cannot: string
}

/** One component. */
export interface Row {
  /** What is never lost, whichever fault. */
  readonly kept: string
  readonly cells: Readonly<Record<Fault, Cell | NoCell>>
  /** What happens when the fault is over; checked after each of its cells. */
  readonly comesBack: string
  /** What works and what fails, where it is not the same for the whole row. */
  readonly where?: string
}

/** A caller who is far from every cap is let through as long as the money lasts that was held for many calls before. */
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

/** What is promised of each component and fault. */
export const MATRIX: Readonly<Record<Component, Row>> = {
  redis: {
    kept: 'Nothing is in Redis alone but stored replies, which are asked for again, and the counts of limits.',
    comesBack: 'Within ten seconds connections are there again, replies are stored and found, limits are shared.',
    cells: {
      refuses: { says: 'Nothing is found in caches; each instance counts limits by itself.' },
      hangs: { says: 'The same; a request waits for it a quarter of a second, once a second.' },
      slow: { says: 'Found as long as it answers within a quarter of a second, as if it were empty beyond that.' },
      resets: { says: 'As if it refused.' },
      garbage: { says: 'As if it refused; what cannot be understood costs the connection, never the process.' },
      full: { says: 'What is there may be found; new replies are not stored, each instance counts limits by itself.' },
    },
  },
  postgres: {
    kept: 'What was acknowledged is on its disk. Receipts, settlements and counted calls wait in memory meanwhile, and are written when it is back.',
    comesBack: 'The next request opens a new connection; what waited is written within seconds.',
    cells: {
      refuses: { says: 'Whatever needs the books is refused at once.', fails: NO_BOOKS },
      hangs: { says: 'Whatever needs the books is refused after two seconds.', fails: NO_BOOKS },
      slow: { says: 'Everything takes longer.' },
      resets: {
        says: 'As if it refused: what was under way is undone, or found done when it is asked again.',
        fails: NO_BOOKS,
      },
      garbage: { says: 'As if it hung.', fails: NO_BOOKS },
      full: {
        says: 'It can be read and not written to, or takes no more connections: whatever has to be written is refused.',
        fails: { ...NO_BOOKS, keys: ['works', '503'] },
      },
    },
  },
  provider: {
    kept: 'A call that failed costs its caller nothing; a paid one is held until its payer comes back, or let go.',
    comesBack: 'The next call is answered.',
    cells: {
      refuses: {
        says: 'After three tries the next of a list of models is asked; with none, the call fails. Stored replies are found.',
        fails: { ...NOBODY_ANSWERS, running: 'error event' },
      },
      hangs: {
        says: 'Given up after `providers.timeouts`: `first_byte` before an answer has begun, `idle` within it.',
        fails: { ...NOBODY_ANSWERS, stream: ['502', 'error event'], running: 'error event' },
        withinSeconds: 45,
      },
      slow: { says: 'Relayed as it comes; clients are pinged meanwhile.' },
      resets: { says: 'As if it refused.', fails: { ...NOBODY_ANSWERS, running: 'error event' } },
      garbage: { says: 'As if it refused.', fails: { ...NOBODY_ANSWERS, running: 'error event' } },
      full: {
        says: 'Overloaded (529) is tried again, then 502. Its own limit (429) reaches the client as it is.',
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
    kept: 'Money that is held or taken: the same credential goes on where it stopped, and never pays twice.',
    comesBack: 'The next payment is taken; one that was in doubt is looked up at Stripe.',
    cells: {
      refuses: { says: 'Nothing can be bought or paid; everything else runs.', fails: NO_STRIPE },
      hangs: { says: 'The same, after three tries of ten seconds.', fails: NO_STRIPE, withinSeconds: 40 },
      slow: { says: 'Payments take longer.' },
      resets: { says: 'As if it refused.', fails: NO_STRIPE },
      garbage: { says: 'As if it refused.', fails: NO_STRIPE },
      full: { says: 'Its own limit (429) is as if it refused.', fails: NO_STRIPE },
    },
  },
  disk: {
    kept: 'With SQLite: what was acknowledged. What could not be written was not done, and is refused.',
    comesBack: 'The next request is written. After damage: stop, put the backup back, start.',
    cells: {
      refuses: {
        says: 'Writes fail: whatever has to be written is refused, all else runs.',
        fails: { ...NO_BOOKS, ...FROM_TILLS, keys: ['works', '503'], checkout: ['works', '503'] },
      },
      hangs: {
        says: 'The same, after two seconds: the thread that waits for the disk is not the one that answers.',
        fails: { ...NO_BOOKS, ...FROM_TILLS, keys: ['works', '503'] },
      },
      slow: { says: 'Everything that is written takes longer, in groups: many writes wait for one commit.' },
      resets: { cannot: 'A disk has no connection that could be reset; one that goes away refuses.' },
      garbage: {
        says: 'A damaged database stops the start, and is named. Found while it runs, whatever needs it is refused (503).',
      },
      full: {
        says: 'As if it refused.',
        fails: { ...NO_BOOKS, ...FROM_TILLS, keys: ['works', '503'], checkout: ['works', '503'] },
      },
    },
  },
  clock: {
    kept: 'Money: holds, caps and payments are decided once, whatever time it is.',
    comesBack: 'Nothing has to be done.',
    cells: {
      refuses: { cannot: 'A clock is read from memory; it always answers.' },
      hangs: { says: 'A clock that stands still ends no lease and no stored reply.' },
      slow: { says: 'The same at half the speed.' },
      resets: { says: 'Back by an hour: leases and stored replies last an hour longer; limits go on at their pace.' },
      garbage: {
        says: 'Forward by an hour: tokens, challenges and stored replies that last shorter have ended.',
        fails: { keys: '401', paid: '402', checkout: '401' },
      },
      full: { cannot: 'A clock holds nothing.' },
    },
  },
  gateway: {
    kept: 'What it had acknowledged. Its holds end with their leases, its payments are gone on with by any other.',
    comesBack: 'It serves again; one that was killed is started anew.',
    where: 'everything, on the others',
    cells: {
      refuses: { says: 'It was killed: the others serve on. What ran in it breaks off, and is sent again by clients.' },
      hangs: { says: 'It stands still: the others serve on, and take over its leases when they end.' },
      slow: { says: 'It gets a tenth of its processor: it answers late, the others as ever.' },
      resets: { says: 'It is killed in the middle of its answers: as if it refused.' },
      garbage: {
        cannot: 'A gateway sends what its code says; wrong answers are faults of the code, which other tests look for.',
      },
      full: { says: 'It has no file descriptors left: it takes no connections until some are free, and goes on then.' },
    },
  },
  network: {
    kept: 'The same as for what is behind the link. Two gateways never talk to each other, only to what they share.',
    comesBack: 'As for what is behind the link.',
    where: 'as for what is behind the link; everything, on the others',
    cells: {
      refuses: {
        says: 'One gateway does as if what is behind the link refused; the others serve on, and the books agree.',
      },
      hangs: { says: 'The same, as if it hung: packets are lost.' },
      slow: { says: 'The same, as if it were slow.' },
      resets: { says: 'The same, as if it reset connections.' },
      garbage: { says: 'The same, as if it answered garbage: something in between does.' },
      full: { cannot: 'A link that is full is slow.' },
    },
  },
}
