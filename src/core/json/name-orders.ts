/** The names of an object's members in its own order, sorted, and sorted as they are printed. */
export interface NameOrder {
  readonly names: readonly string[]
  readonly sorted: readonly string[]
  readonly labels: readonly string[]
}

/** Orders kept, and of one number of names, among which an object's is searched. */
const MOST_ORDERS = 64
const MOST_OF_ONE_LENGTH = 8
/** Names of a kept order, and their characters in all: a receipt has 23, of 183. */
const MOST_NAMES = 64
const MOST_CHARACTERS = 256

/**
 * Keeps the sorted names of the objects printed before: objects of one kind have the same names in the same order.
 * Bounded in count and size; orders beyond the bounds are sorted each time.
 */
export class NameOrders {
  readonly #print: (name: string) => string
  /** By the number of names. */
  readonly #kept: NameOrder[][] = []
  #count = 0

  /** `print` returns a name as it is printed before its value. */
  constructor(print: (name: string) => string) {
    this.#print = print
  }

  /** Sorts in the default order of `sort`, that of UTF-16 units. */
  of(names: readonly string[]): NameOrder {
    const ofLength = this.#kept[names.length] ?? []
    for (const order of ofLength) if (order.names.every((name, i) => name === names[i])) return order
    const sorted = names.toSorted()
    const order = { names, sorted, labels: sorted.map(this.#print) }
    if (this.#count < MOST_ORDERS && ofLength.length < MOST_OF_ONE_LENGTH && isSmall(names)) {
      this.#kept[names.length] = [...ofLength, order]
      this.#count++
    }
    return order
  }
}

function isSmall(names: readonly string[]): boolean {
  if (names.length > MOST_NAMES) return false
  let characters = 0
  for (const name of names) characters += name.length
  return characters <= MOST_CHARACTERS
}
