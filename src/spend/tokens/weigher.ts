import { type Child, children, type Range } from '../../core/json/scan.ts'
import { QUOTE } from '../../core/json/scan-string.ts'
import type { RequestParts } from './request-parts.ts'
import { unitsOfJson, unitsOfText } from './text-units.ts'
import { UNITS_PER_TOKEN } from './weights.ts'

/** Weighing of a known member: by its value, free, or free while it is short. */
export type Rule = 'text' | 'free' | 'mark'

/** Rules by the decoded name of a member. */
export type Rules = ReadonlyMap<string, Rule>

/** Builds rules from lists of names. */
export function createRules(names: Partial<Record<Rule, readonly string[]>>): Rules {
  const entries = Object.entries(names) as [Rule, readonly string[]][] // safe: the keys are rules
  return new Map(entries.flatMap(([rule, list]) => list.map((name): [string, Rule] => [name, rule])))
}

/** Longest free mark in bytes: twice the longest id of a provider. */
const MARK_BYTES = 128
const FIRST_FRAME_TOKENS = 3
const BACKSLASH = '\\'

/** Adds up the parts of one document. Ranges are byte offsets. */
export class Weigher {
  readonly bytes: Buffer
  /** The bytes read as latin1. */
  readonly text: string
  readonly parts: RequestParts = {
    units: 0,
    earlierThinkingUnits: 0,
    deferredUnits: 0,
    frameTokens: FIRST_FRAME_TOKENS,
    hiddenTokens: 0,
    documentTokens: 0,
    images: [],
    isPlain: true,
  }

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.text = bytes.toString('latin1')
  }

  /** Adds a string's inside, or any other value as written. */
  add({ start, end }: Range): void {
    const quote = this.bytes[start] === QUOTE ? 1 : 0
    this.parts.units += unitsOfJson(this.bytes, start + quote, end - quote)
  }

  /** Adds a value that is free up to `mostBytes`. */
  addMark(value: Range, mostBytes = MARK_BYTES): void {
    if (value.end - value.start > mostBytes) this.add(value)
  }

  /** Adds an unknown member or element: its name and its value. */
  addUnknown(member: Child): void {
    this.parts.isPlain = false
    if (member.key !== undefined) this.parts.units += unitsOfText(Buffer.from(member.key))
    this.add(member)
  }

  /** Adds a member by the rule for its name. */
  addMember(member: Child, rules: Rules): void {
    const rule = rules.get(member.key ?? '')
    if (rule === 'text') this.add(member)
    else if (rule === 'mark') this.addMark(member)
    else if (rule === undefined) this.addUnknown(member)
  }

  /** Adds encrypted text, which only the provider can read, by its length: a byte of base64 is a fifth of a token. */
  addEncrypted({ start, end }: Range): void {
    this.parts.isPlain = false
    this.parts.units += ((end - start) / ENCRYPTED_BYTES_PER_TOKEN) * UNITS_PER_TOKEN
  }

  /** Returns the units that `work` adds, and removes them from the sum again. */
  unitsOf(work: () => void): number {
    const before = this.parts.units
    work()
    const added = this.parts.units - before
    this.parts.units = before
    return added
  }

  /** Returns the members or elements of a value; none for a scalar, or for one with unreadable keys. */
  childrenOf({ start }: Range): Child[] {
    const first = this.text[start]
    if (first !== '{' && first !== '[') return []
    try {
      return children(this.text, start)
    } catch {
      return [] // a key with a wrong escape
    }
  }

  /** Passes on each element of a list; adds any other value. */
  addEach(list: Range, add: (element: Range) => void): void {
    if (this.isArray(list)) for (const element of this.childrenOf(list)) add(element)
    else this.add(list)
  }

  /** Passes on each member of an object, with all of them; adds a value without members. */
  addMembers(object: Range, add: (member: Child, members: readonly Child[]) => void): void {
    const members = this.isArray(object) ? [] : this.childrenOf(object)
    if (members.length === 0) this.add(object)
    for (const member of members) add(member, members)
  }

  isArray({ start }: Range): boolean {
    return this.text[start] === '['
  }

  isString({ start }: Range): boolean {
    return this.bytes[start] === QUOTE
  }

  /** Returns the decoded text of a string; `undefined` for any other value, and for a string with a wrong escape. */
  stringOf(value: Range | undefined): string | undefined {
    if (value === undefined || this.bytes[value.start] !== QUOTE) return undefined
    const inside = this.text.slice(value.start + 1, value.end - 1)
    if (!inside.includes(BACKSLASH)) return inside
    try {
      return JSON.parse(this.bytes.toString('utf8', value.start, value.end))
    } catch {
      return undefined
    }
  }
}

const ENCRYPTED_BYTES_PER_TOKEN = 5

/**
 * Returns the member called `name`, if no other has that name in any case: readers that take the last of several, or
 * match names case-insensitively, would see another. `known` are names that need no comparison.
 */
export function onlyMember(members: readonly Child[], name: string, known: Rules): Child | undefined {
  let found: Child | undefined
  for (const member of members) {
    const { key = '' } = member
    if (key === name) {
      if (found !== undefined) return undefined
      found = member
    } else if (key.length === name.length && !known.has(key) && folded(key) === name) return undefined
  }
  return found
}

/** Does the same for a member whose value is a string. */
export function onlyString(weigher: Weigher, members: readonly Child[], name: string, known: Rules): Child | undefined {
  const member = onlyMember(members, name, known)
  return member !== undefined && weigher.isString(member) ? member : undefined
}

/** Folds case in both directions: ſ is a small s, and the Kelvin sign a capital k. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase()
}
