import { type Child, children } from '../json/scan.ts'
import type { Usage } from './usage.ts'
import { TextFinder, WrittenText } from './written-text.ts'

/** Content of a whole reply, to compare with the usage that it reports. */
export interface Shown {
  /** Its texts and the inputs of its tool calls. */
  readonly text: WrittenText
  /** The most bytes that its text can have; unset: as many as `text` has. */
  readonly mostBytes?: number
  /** The model that it names. */
  readonly model: string | undefined
}

/** Returns the usage to use for a whole reply that reports `usage`. Must not throw. */
export type UsageCheck = (usage: Usage | undefined, shown: Shown) => Usage | undefined

/** Places of the model's text in replies of a dialect. */
export interface WrittenIn {
  /** Name of the events with text, and of the members with it there. */
  readonly event: string
  readonly members: readonly string[]
  /** Returns the values of a JSON reply with text, given its top-level members. */
  inReply(json: string, members: readonly Child[]): (Child | undefined)[]
}

/** A stream names its model in the first events, or never. */
const MOST_EVENTS_WITHOUT_MODEL = 4
const MODEL = /"model"\s*:\s*"([^"\\]{1,300})"/

/** Reads the events of a stream that passes. */
export class StreamShown implements Shown {
  readonly text = new WrittenText()
  model: string | undefined
  readonly #event: string
  readonly #finder: TextFinder
  #eventsLeft = MOST_EVENTS_WITHOUT_MODEL

  constructor({ event, members }: WrittenIn) {
    this.#event = event
    this.#finder = new TextFinder(members)
  }

  /** Reads one event, by its name and the bytes of its data. */
  see(name: string, source: Buffer, start: number, end: number): void {
    if (this.model === undefined && this.#eventsLeft-- > 0)
      this.model = MODEL.exec(source.toString('latin1', start, end))?.[1]
    const at = name === this.#event ? this.#finder.find(source, start, end) : -1
    if (at >= 0) this.text.addString(source, at)
  }
}

/** Reads a JSON reply; its text is read on first use. */
export class BytesShown implements Shown {
  readonly #bytes: Buffer
  /** The bytes read as latin1. */
  readonly #json: string
  readonly #members: readonly Child[]
  readonly #writtenIn: WrittenIn

  constructor(bytes: Buffer, { json, members }: { json: string; members: readonly Child[] }, writtenIn: WrittenIn) {
    this.#bytes = bytes
    this.#json = json
    this.#members = members
    this.#writtenIn = writtenIn
  }

  get mostBytes(): number {
    return this.#bytes.length
  }

  get text(): WrittenText {
    const text = new WrittenText()
    for (const value of this.#writtenIn.inReply(this.#json, this.#members)) this.#add(text, value)
    return text
  }

  get model(): string | undefined {
    const member = lastNamed(this.#members, 'model')
    return member && MODEL.exec(`"model":${this.#json.slice(member.start, member.end)}`)?.[1]
  }

  /** Adds the strings in a value, at any depth; names of members are left out. */
  #add(text: WrittenText, value: Child | undefined): void {
    if (value === undefined) return
    const first = this.#json[value.start]
    if (first === '"') text.addString(this.#bytes, value.start + 1)
    else if (first === '{' || first === '[')
      for (const child of children(this.#json, value.start)) this.#add(text, child)
  }
}

/** Returns the member that JSON.parse would take: of several with a name the last. */
export function lastNamed(members: readonly Child[], name: string): Child | undefined {
  return members.findLast(({ key }) => key === name)
}

/** Returns the members of the objects in a list; none when it is no list. */
export function objectsIn(json: string, list: Child | undefined): (readonly Child[])[] {
  if (list === undefined || json[list.start] !== '[') return []
  return children(json, list.start)
    .filter(({ start }) => json[start] === '{')
    .map(({ start }) => children(json, start))
}

/** Returns the members of an object; none when it is no object. */
export function membersOf(json: string, object: Child | undefined): readonly Child[] {
  return object !== undefined && json[object.start] === '{' ? children(json, object.start) : []
}
