import type { ToolCall } from './tool-results.ts'

/** Kind of a label: a tool's result, or its input. */
type Kind = 'result' | 'input'

/** Argument of a call as printed in labels. */
type Printed = readonly [key: string, value: string]

/** Content that has a label. */
export interface Named {
  readonly kind: Kind
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** Set for the verbatim content of a file. */
  readonly isFile: boolean
}

const LONGEST_ARGUMENT = 48
const HEAD = 30
const TAIL = 17
/** Most arguments of a call that are indexed, and that a label adds to the first. */
const MOST_ARGUMENTS = 16
const MOST_ADDED = 4
/** Most contents with the same label; beyond it none is a target of pointers. */
const MOST_ALIKE = 100

/** Names a call by its tool and its first argument. */
export function labelOf({ name, input }: Pick<ToolCall, 'name' | 'input'>): string {
  const main = Object.values(input).find((value) => typeof value === 'string' && value.trim() !== '')
  return main === undefined ? name : `${name} ${print(main)}`
}

/**
 * DESIGN: unambiguous labels.
 *
 * A label is the tool and its first argument; where several calls match, it adds the arguments that differ; where that
 * is not enough, an ordinal:
 *
 *     Read lib/a.js      Read lib/a.js offset=200      Bash npm test (2nd of 3)
 *
 * A label matches every call of the tool that has these arguments, under any
 * name. Ordinals count the calls up to that point.
 */
export class Names {
  readonly #all: Named[] = []
  /** Arguments of indexed calls; lazy, since most conversations have no target for long. */
  readonly #printed: (readonly Printed[])[] = []
  /** Indexed by kind, tool and one argument; and by kind and tool. */
  readonly #alike = new Map<string, number[]>()
  /** Memo of labels since the last addition: a result often points to the same source. */
  readonly #labels = new Map<Named, string | undefined>()

  /** Current length, for `cutBack`. */
  get length(): number {
    return this.#all.length
  }

  /** Adds the next content in reading order. */
  add(named: Named): void {
    this.#all.push(named)
    this.#labels.clear()
  }

  cutBack(length: number): void {
    for (let index = this.#printed.length - 1; index >= length; index--)
      for (const key of this.#keysOf(index)) this.#alike.get(key)?.pop()
    this.#printed.length = Math.min(this.#printed.length, length)
    this.#all.length = length
    this.#labels.clear()
  }

  /** Returns the label that matches this content and no other; `undefined` when too many are alike. */
  labelOf(named: Named): string | undefined {
    if (!this.#labels.has(named)) this.#labels.set(named, this.#newLabel(named))
    return this.#labels.get(named)
  }

  #newLabel(named: Named): string | undefined {
    this.#index()
    const printed = this.#printed[this.#all.indexOf(named)] ?? []
    const main = mainOf(printed)
    const prefix = named.kind === 'input' ? 'input of ' : ''
    const alike = this.#alike.get(keyOf(named, main?.[1])) ?? []
    if (alike.length > MOST_ALIKE) return undefined
    const added = printed
      .filter((argument) => argument !== main && this.#distinguishes(argument, alike))
      .slice(0, MOST_ADDED)
    const fitting = alike.filter((index) => added.every((argument) => this.#has(index, argument)))
    const label = [
      named.name,
      ...(main === undefined ? [] : [main[1]]),
      ...added.map(([key, value]) => `${key}=${value}`),
    ]
    return this.#numbered(prefix + label.join(' '), named, fitting)
  }

  #index(): void {
    for (let index = this.#printed.length; index < this.#all.length; index++) {
      // Safe: the index is less than the length.
      this.#printed.push(printedOf(this.#all[index]!))
      for (const key of this.#keysOf(index)) {
        const alike = this.#alike.get(key)
        if (alike === undefined) this.#alike.set(key, [index])
        else alike.push(index)
      }
    }
  }

  #keysOf(index: number): Set<string> {
    // Safe: indexed contents exist.
    const named = this.#all[index]!
    const values = this.#printed[index]?.map(([, value]) => keyOf(named, value)) ?? []
    return new Set([keyOf(named, undefined), ...values])
  }

  #numbered(label: string, named: Named, fitting: readonly number[]): string | undefined {
    const at = fitting.findIndex((index) => this.#all[index] === named)
    if (at === -1 || fitting.length > MOST_ALIKE || /[“”]/.test(label)) return undefined
    return fitting.length === 1 ? label : `${label} (${ordinal(at + 1)} of ${fitting.length})`
  }

  /** Tests for an argument that one of those alike does not have. */
  #distinguishes(argument: Printed, alike: readonly number[]): boolean {
    return alike.some((index) => !this.#has(index, argument))
  }

  #has(index: number, [key, value]: Printed): boolean {
    return this.#printed[index]?.some((own) => own[0] === key && own[1] === value) ?? false
  }
}

function printedOf({ input }: Named): readonly Printed[] {
  return Object.entries(input)
    .slice(0, MOST_ARGUMENTS)
    .map(([key, value]): Printed => [key, print(value)])
}

function mainOf(printed: readonly Printed[]): Printed | undefined {
  return printed.find(([, value]) => value !== '')
}

function keyOf({ kind, name }: Named, value: string | undefined): string {
  return value === undefined ? `${kind} ${name}` : `${kind} ${name} ${value}`
}

/** Matches blanks that one line would change. */
const UNEVEN = /^\s|\s\s|[^\S ]|\s$/

/** Prints an argument on one line; of a long one the beginning and the end. */
function print(value: unknown): string {
  const given = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  // The two ends of a text of megabytes are enough for one line.
  const text = given.length > 4000 ? given.slice(0, 2000) + given.slice(-2000) : given
  const line = UNEVEN.test(text) ? text.trim().replace(/\s+/g, ' ') : text
  return line.length <= LONGEST_ARGUMENT ? line : `${line.slice(0, HEAD)}…${line.slice(-TAIL)}`
}

const ENDINGS: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' }
const RULES = new Intl.PluralRules('en', { type: 'ordinal' })

function ordinal(number: number): string {
  return `${number}${ENDINGS[RULES.select(number)]}`
}
