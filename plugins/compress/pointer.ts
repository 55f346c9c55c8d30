import type { ToolCall } from './tool-results.ts'

const LONGEST_ARGUMENT = 48
const LONGEST_ANCHOR = 28

/** Names a tool's result for a reader: the tool, and the first short thing it was asked for. */
export function labelOf({ name, input }: Pick<ToolCall, 'name' | 'input'>): string {
  const argument = Object.values(input).find((value) => typeof value === 'string' && value.trim() !== '')
  if (argument === undefined) return name
  return `${name} ${shorten(oneLine(String(argument)), LONGEST_ARGUMENT)}`
}

/** What a pointer says of the text that it stands for. */
export interface Shown {
  /** `lines 31–80`, `12 lines`, `1240 characters`. */
  readonly extent: string
  /** The source, or `above` for the same text. */
  readonly where: string
  readonly first: string
  readonly last: string
  /** Whether it is the same to the character: else times differ. */
  readonly isExact: boolean
}

/** A text that stands for one that was shown before, with its first and last words to find it by. */
export function pointerTo({ extent, where, first, last, isExact }: Shown): string {
  const from = anchor(first)
  const to = anchor(last)
  const anchors = from === to || to === '' ? `“${from}”` : `“${from}” … “${to}”`
  return `[${extent} as ${where}${isExact ? '' : ', but for times'}: ${anchors}]`
}

function anchor(text: string): string {
  return shorten(oneLine(text), LONGEST_ANCHOR)
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}

function shorten(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).trimEnd()}…`
}
