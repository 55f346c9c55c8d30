import type { MessagesDigest } from './digest.ts'

/** Difference between the messages of two requests. */
export interface MessagesChange {
  /** Number of the first message that differs. */
  readonly index: number
  /** `undefined` when the later request continues the earlier one. */
  readonly detail: string | undefined
  readonly isCompaction: boolean
  /** Weight of the messages before it. */
  readonly commonWeight: number
  /** Weight of the later request's messages that the earlier one had, edited ones included. */
  readonly repeatedWeight: number
}

/** Fewest messages that a client replaces by a summary. */
const FEWEST_COMPACTED = 4

/** Compares the messages of two requests. Linear in both. */
export function changeOfMessages(before: MessagesDigest, after: MessagesDigest): MessagesChange {
  const index = commonMessages(before, after)
  const commonWeight = weightUpTo(after, index)
  if (index === before.fingerprints.length)
    return { index, detail: undefined, isCompaction: false, commonWeight, repeatedWeight: commonWeight }
  const known = new Set(before.fingerprints)
  const rest = after.fingerprints.subarray(index)
  const edited = editedFrom(before, after, index)
  const repeatedWeight =
    commonWeight +
    rest.reduce((sum, fingerprint, i) => {
      const isRepeated = known.has(fingerprint) || i < edited
      return isRepeated ? sum + (after.weights[index + i] ?? 0) : sum
    }, 0)
  const survives = rest.some((fingerprint) => known.has(fingerprint))
  const isCompaction = !survives && edited === 0 && isShortened(before, after, index)
  const detail = describe(before, after, { index, edited, isCompaction })
  return { index, detail, isCompaction, commonWeight, repeatedWeight }
}

/** Returns how many messages both requests begin with. */
function commonMessages(before: MessagesDigest, after: MessagesDigest): number {
  const [old, current] = [before.fingerprints, after.fingerprints]
  let index = 0
  while (index < old.length && index < current.length && old[index] === current[index]) index++
  return index
}

/** A history that is replaced from its first half on is compacted; from its second half on, the user went back. */
function isShortened({ fingerprints: old }: MessagesDigest, { fingerprints }: MessagesDigest, index: number): boolean {
  return old.length >= FEWEST_COMPACTED && fingerprints.length < old.length && index < old.length / 2
}

/** Returns how many messages from `index` on were replaced one by one: those after them are equal again. */
function editedFrom({ fingerprints: old }: MessagesDigest, { fingerprints }: MessagesDigest, index: number): number {
  for (let i = index + 1; i < old.length && i < fingerprints.length; i++)
    if (old[i] === fingerprints[i]) return i - index
  // The last message of the earlier request was replaced, and the conversation went on behind it.
  return index === old.length - 1 && fingerprints.length > old.length ? 1 : 0
}

interface Place {
  readonly index: number
  readonly edited: number
  readonly isCompaction: boolean
}

function describe(before: MessagesDigest, after: MessagesDigest, { index, edited, isCompaction }: Place): string {
  const [old, current] = [before.fingerprints, after.fingerprints]
  if (isCompaction) return `${counted(old.length)} became ${current.length}: a compaction`
  if (edited > 0) return describeEdit(after, index, edited)
  const [was, is] = [old[index], current[index]]
  const kept = is === undefined ? -1 : old.indexOf(is, index + 1)
  if (kept > 0) return describeSpan(before, { index, count: kept - index, verb: 'removed' })
  const moved = was === undefined ? -1 : current.indexOf(was, index + 1)
  if (moved > 0) return describeSpan(after, { index, count: moved - index, verb: 'inserted' })
  return `the conversation went back to messages[${index}]: ${counted(old.length - index)} of the turn before are gone`
}

function describeEdit({ kinds }: MessagesDigest, index: number, count: number): string {
  if (count === 1) return `messages[${index}] was edited (${kinds[index]})`
  return `${count} messages from messages[${index}] on were edited (${kinds[index]})`
}

function describeSpan(
  { kinds }: MessagesDigest,
  { index, count, verb }: { index: number; count: number; verb: string },
): string {
  if (count === 1) return `messages[${index}] was ${verb} (${kinds[index]})`
  return `${counted(count)} from messages[${index}] on were ${verb}`
}

function counted(messages: number): string {
  return messages === 1 ? '1 message' : `${messages} messages`
}

function weightUpTo({ weights }: MessagesDigest, index: number): number {
  let sum = 0
  for (let i = 0; i < index; i++) sum += weights[i] ?? 0
  return sum
}

/** Returns how many of the later request's messages the earlier one has, at any place. Linear in both. */
export function sharedMessages(before: MessagesDigest, after: MessagesDigest): number {
  const common = commonMessages(before, after)
  if (common > 0) return common
  const known = new Set(before.fingerprints)
  return after.fingerprints.reduce((count, fingerprint) => (known.has(fingerprint) ? count + 1 : count), 0)
}
