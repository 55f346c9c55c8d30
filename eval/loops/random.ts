import { lehmer } from '../semantic/random.ts'

/** Seeded choices: the same on every run. */
export interface Random {
  /** Returns a whole number from `least` to `most`. */
  int(least: number, most: number): number
  pick<Item>(items: readonly Item[]): Item
  /** Returns true in this share of cases. */
  chance(share: number): boolean
  /** Returns hexadecimal digits. */
  hex(length: number): string
}

export function createRandom(seed: number): Random {
  const next = lehmer(seed * 7919 + 17)
  // The first numbers of near seeds are alike.
  for (let index = 0; index < 8; index++) next()
  const int = (least: number, most: number) => least + (next() % (most - least + 1))
  return {
    int,
    pick(items) {
      const item = items[int(0, items.length - 1)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    chance: (share) => int(1, 1000) <= share * 1000,
    hex: (length) => Array.from({ length }, () => int(0, 15).toString(16)).join(''),
  }
}
