/**
 * DESIGN: a reader with access to the provider's request only.
 *
 * Resolves every pointer in tool results to the text that it replaces, in the order of the conversation:
 *
 *     [3 lines as in the earlier Bash npm test (1st of 2): “first line” … “third line”]
 *      extent                    label         ordinal       anchors
 *
 * The label and the ordinal must lead to exactly one earlier result or input, and the extent and the anchors to exactly
 * one place in it; anything else is a fault. Shares no code with the plugin that writes pointers.
 */
import type { ContentBlock, Message } from '../../src/core/request/message.ts'

/** Pointer that is invalid or ambiguous. */
export interface Fault {
  readonly message: number
  readonly pointer: string
  readonly reason: 'no source' | 'several sources' | 'no place' | 'several places'
}

/** Text of a result as it is sent, and with its pointers resolved. */
export interface ReadText {
  readonly message: number
  readonly toolUseId: string
  readonly sent: string
  readonly whole: string
  readonly pointers: number
}

/** Conversation after reading. */
export interface Reading {
  readonly texts: readonly ReadText[]
  readonly faults: readonly Fault[]
}

interface Call {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Source of text. */
interface Source {
  readonly kind: 'result' | 'input'
  readonly call: Call
  readonly texts: string[]
}

const POINTER =
  /\[(?:lines (\d+)–(\d+)|(\d+) lines?|(\d+) characters) as (?:lines (\d+)–(\d+) )?(?:(above)|in the earlier (.+?)(?: \((\d+)\w\w of (\d+)\))?)(, but for times)?: “(.*?)”(?: … “(.*?)”)?\]/g

/** Reads a conversation from its first message to its last. */
export function readView(messages: readonly Message[]): Reading {
  const reader = new Reader()
  for (const [index, message] of messages.entries()) reader.read(index, message)
  return { texts: reader.texts, faults: reader.faults }
}

class Reader {
  readonly texts: ReadText[] = []
  readonly faults: Fault[] = []
  readonly #calls = new Map<string, Call>()
  readonly #sources: Source[] = []

  read(message: number, { content }: Message): void {
    if (typeof content === 'string') return
    for (const block of content) {
      if (block.type === 'tool_use') this.#call(block)
      else if (block.type === 'tool_result') this.#result(message, block)
    }
  }

  #call({ id, name, input }: ContentBlock & { type: 'tool_use' }): void {
    const call = { name, input }
    this.#calls.set(id, call)
    const texts = Object.values(input).filter((value) => typeof value === 'string')
    this.#sources.push({ kind: 'input', call, texts })
  }

  #result(message: number, { tool_use_id: toolUseId, content }: ContentBlock & { type: 'tool_result' }): void {
    const own: Source = {
      kind: 'result',
      call: this.#calls.get(toolUseId) ?? { name: 'tool result', input: {} },
      texts: [],
    }
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content ?? [])
    for (const part of parts) {
      if (part.type !== 'text') continue
      const { whole, pointers } = this.#expand(part.text, own, message)
      this.texts.push({ message, toolUseId, sent: part.text, whole, pointers })
      own.texts.push(part.text)
    }
    this.#sources.push(own)
  }

  #expand(sent: string, own: Source, message: number): { whole: string; pointers: number } {
    let pointers = 0
    const whole = sent.replace(POINTER, (pointer: string, ...groups: (string | number | undefined)[]) => {
      pointers++
      const offset = groups.findLast((group) => typeof group === 'number') as number // safe: the place of the match
      const found = this.#resolve(toPointer(groups), { ...own, texts: [...own.texts, sent.slice(0, offset)] })
      if (typeof found !== 'string') {
        this.faults.push({ message, pointer, reason: found.reason })
        return pointer
      }
      return found
    })
    return { whole, pointers }
  }

  /** Returns the text that a pointer replaces. */
  #resolve(pointer: Pointer, own: Source): string | Pick<Fault, 'reason'> {
    const sources = pointer.label === undefined ? [own] : this.#named(pointer.label, pointer.ordinal)
    if (sources.length !== 1) return { reason: sources.length === 0 ? 'no source' : 'several sources' }
    const places = sources.flatMap(({ texts }) => texts.flatMap((text) => placesIn(text, pointer)))
    const [place] = places
    if (place === undefined || places.length > 1) return { reason: place === undefined ? 'no place' : 'several places' }
    return place
  }

  /** Returns the sources that a label matches, or the one that the ordinal selects. */
  #named(label: string, ordinal: Pointer['ordinal']): Source[] {
    const fitting = this.#sources.filter((source) => fits(label, source))
    if (ordinal === undefined) return fitting
    if (ordinal.of !== fitting.length) return []
    return fitting.slice(ordinal.at - 1, ordinal.at)
  }
}

interface Pointer {
  /** Lines of the text itself, where it is numbered. */
  readonly lines: readonly [number, number] | undefined
  readonly lineCount: number | undefined
  readonly characters: number | undefined
  readonly sourceFirst: number | undefined
  readonly label: string | undefined
  readonly ordinal: { readonly at: number; readonly of: number } | undefined
  readonly first: string
  readonly last: string
}

function toPointer(groups: readonly (string | number | undefined)[]): Pointer {
  const number = (index: number) => (groups[index] === undefined ? undefined : Number(groups[index]))
  const [from, to] = [number(0), number(1)]
  const isNumbered = from !== undefined && to !== undefined
  const [at, of] = [number(8), number(9)]
  const first = String(groups[11] ?? '')
  return {
    lines: isNumbered ? [from, to] : undefined,
    lineCount: isNumbered ? to - from + 1 : number(2),
    characters: number(3),
    sourceFirst: number(4),
    label: groups[7] === undefined ? undefined : String(groups[7]),
    ordinal: at !== undefined && of !== undefined ? { at, of } : undefined,
    first,
    last: String(groups[12] ?? first),
  }
}

/** Tests a label against a source: its tool's name, one of its arguments, and others by name. */
function fits(label: string, { kind, call }: Source): boolean {
  const own = kind === 'input' ? label.replace(/^input of /, '') : label
  if (kind === 'input' && own === label) return false
  if (!own.startsWith(call.name)) return false
  const rest = own.slice(call.name.length)
  const values = Object.entries(call.input).map(([key, value]) => [key, printed(value)] as const)
  if (isNamed(rest, values)) return true
  return values.some(([, value]) => rest.startsWith(` ${value}`) && isNamed(rest.slice(value.length + 1), values))
}

/** Tests that the rest of a label consists of arguments of the call by name. */
function isNamed(rest: string, values: readonly (readonly [string, string])[]): boolean {
  if (rest === '') return true
  return values.some(([key, value]) => {
    const text = ` ${key}=${value}`
    return rest.startsWith(text) && isNamed(rest.slice(text.length), values)
  })
}

const LONGEST_ARGUMENT = 48

/** Prints an argument as labels do: on one line; of a long one the beginning and the end. */
function printed(value: unknown): string {
  const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).trim().replace(/\s+/g, ' ')
  return text.length <= LONGEST_ARGUMENT ? text : `${text.slice(0, 30)}…${text.slice(-17)}`
}

const GUTTER = /^(\d{1,7})(→|\t|:| ?\|)/

/** Returns the texts in a source that match a pointer's extent and anchors. */
function placesIn(text: string, pointer: Pointer): string[] {
  return pointer.characters === undefined
    ? linePlaces(text, pointer)
    : characterPlaces(text, pointer.characters, pointer)
}

function characterPlaces(text: string, length: number, { first, last }: Pointer): string[] {
  const places: string[] = []
  const [head, tail] = [first.replace(/…$/, ''), last.replace(/^…/, '')]
  for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, at + 1)) {
    const place = text.slice(at, at + length)
    if (place.length === length && (first === last || place.endsWith(tail)) && !place.includes('\n')) places.push(place)
  }
  return places
}

function linePlaces(text: string, pointer: Pointer): string[] {
  const { lines, lineCount = 0, sourceFirst } = pointer
  const all = text.split('\n')
  const [first, last] = [contentOf(pointer.first, lines), contentOf(pointer.last, lines)]
  const separator = lines === undefined ? '' : (GUTTER.exec(pointer.first)?.[2] ?? '')
  const places: string[] = []
  for (let at = 0; at + lineCount <= all.length; at++) {
    const place = all.slice(at, at + lineCount)
    const wantedNumber = sourceFirst ?? lines?.[0]
    const plain = linesAt(place, { first, last, wantedNumber, isNumbered: sourceFirst !== undefined })
    if (plain === undefined) continue
    places.push(
      plain.map((line, index) => (lines === undefined ? line : `${lines[0] + index}${separator}${line}`)).join('\n'),
    )
  }
  return places
}

/** Returns an anchor without the line's number. */
function contentOf(anchor: string, lines: Pointer['lines']): string {
  return lines === undefined ? anchor : anchor.replace(GUTTER, '')
}

interface Wanted {
  readonly first: string
  readonly last: string
  readonly wantedNumber: number | undefined
  /** Set when the place must have line numbers. */
  readonly isNumbered: boolean
}

/** Returns the lines of a place without their numbers, if it matches. */
function linesAt(place: readonly string[], { first, last, wantedNumber, isNumbered }: Wanted): string[] | undefined {
  if (place.some((line) => new RegExp(POINTER).test(line))) return undefined
  const numbers = place.map((line) => Number(GUTTER.exec(line)?.[1] ?? 0))
  const hasNumbers = numbers.every((number, index) => number > 0 && number === (numbers[0] ?? 0) + index)
  const anchored = (lines: readonly string[]) => isAnchor(lines[0] ?? '', first) && isAnchor(lines.at(-1) ?? '', last)
  const contents = place.map((line) => line.replace(GUTTER, ''))
  if (hasNumbers && (wantedNumber === undefined || numbers[0] === wantedNumber) && anchored(contents)) return contents
  return !isNumbered && anchored(place) ? [...place] : undefined
}

/** Tests the beginning of a line against an anchor, which ends in an ellipsis where the line continues. */
function isAnchor(line: string, anchor: string): boolean {
  const own = line.trim()
  return anchor.endsWith('…') ? own.startsWith(anchor.slice(0, -1)) || own === anchor : own === anchor
}
