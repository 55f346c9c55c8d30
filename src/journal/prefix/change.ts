import { describeChange } from './changed-text.ts'
import { firstChangedChunk } from './chunks.ts'
import type { PrefixDigest, SystemDigest, ToolsDigest } from './digest.ts'
import { changeOfMessages } from './message-change.ts'

/** The first difference between the prefixes of two requests. */
export interface Change {
  readonly part: 'tools' | 'system' | 'messages'
  /** Set when the client replaced its history by a shorter one. */
  readonly isCompaction: boolean
  /** Number of the first block or message that differs, in its part. */
  readonly index: number
  /** Description with the field, at most 200 characters. */
  readonly detail: string
  /** Weight of the later request before the change. */
  readonly commonWeight: number
  /** Weight of the parts of the later request that the earlier one had, changed ones included. */
  readonly repeatedWeight: number
}

/** Returns the text of a block of the later request's system text. */
export type SystemTextOf = (index: number) => string

const LONGEST_DETAIL = 200

/**
 * Returns the first change of the earlier request's prefix, in the order of the prompt: tools, system, messages. `undefined`
 * when the later request repeats it.
 */
export function firstChange(before: PrefixDigest, after: PrefixDigest, textOf: SystemTextOf): Change | undefined {
  const messages = changeOfMessages(before.messages, after.messages)
  const repeatedWeight = messages.repeatedWeight + after.tools.weight + after.system.weight
  const tools = changeOfTools(before.tools, after.tools)
  if (tools !== undefined)
    return { ...CHANGE, part: 'tools', index: tools.index, detail: cut(tools.detail), commonWeight: 0, repeatedWeight }
  const system = changeOfSystem(before.system, after.system, textOf)
  if (system !== undefined) {
    const { index, detail } = system
    return { ...CHANGE, part: 'system', index, detail: cut(detail), commonWeight: after.tools.weight, repeatedWeight }
  }
  if (messages.detail === undefined) return undefined
  const { index, detail, isCompaction } = messages
  const commonWeight = after.tools.weight + after.system.weight + messages.commonWeight
  return { part: 'messages', isCompaction, index, detail: cut(detail), commonWeight, repeatedWeight }
}

const CHANGE = { isCompaction: false }

interface Place {
  readonly index: number
  readonly detail: string
}

function changeOfTools(before: ToolsDigest, after: ToolsDigest): Place | undefined {
  if (before.whole === after.whole) return undefined
  const index = before.tools.findIndex((tool, i) => {
    const other = after.tools[i]
    return other?.name !== tool.name || other.description !== tool.description || other.rest !== tool.rest
  })
  if (index < 0 && before.tools.length === after.tools.length) return undefined
  const names = new Set(before.tools.map(({ name }) => name))
  const laterNames = new Set(after.tools.map(({ name }) => name))
  const added = [...laterNames].filter((name) => !names.has(name))
  const removed = [...names].filter((name) => !laterNames.has(name))
  const counted = { index: index < 0 ? before.tools.length : index }
  if (added.length + removed.length > 0) return { ...counted, detail: describeLists(added, removed) }
  return { ...counted, detail: describeTool(before, after, counted.index) }
}

function describeLists(added: readonly string[], removed: readonly string[]): string {
  const list = (names: readonly string[], verb: string) =>
    names.length === 0
      ? []
      : [`tool \`${names[0]}\`${names.length > 1 ? ` and ${names.length - 1} more were` : ' was'} ${verb}`]
  return [...list(added, 'added'), ...list(removed, 'removed')].join('; ')
}

function describeTool(before: ToolsDigest, after: ToolsDigest, index: number): string {
  const [tool, other] = [before.tools[index], after.tools[index]]
  if (tool === undefined || other === undefined || tool.name !== other.name) return 'the tool list was reordered'
  return `tool \`${tool.name}\` changed its ${tool.description === other.description ? 'schema' : 'description'}`
}

function changeOfSystem(before: SystemDigest, after: SystemDigest, textOf: SystemTextOf): Place | undefined {
  const { blocks: old } = before
  const { blocks: current } = after
  const index = old.findIndex(({ fingerprint }, i) => current[i]?.fingerprint !== fingerprint)
  if (index < 0) {
    if (old.length === current.length) return undefined
    return { index: old.length, detail: `system[${old.length}] was added` }
  }
  const [was, is] = [old[index], current[index]]
  if (was === undefined || is === undefined) return { index, detail: `system[${index}] was removed` }
  if (current[index + 1]?.fingerprint === was.fingerprint) return { index, detail: `system[${index}] was added` }
  if (old[index + 1]?.fingerprint === is.fingerprint) return { index, detail: `system[${index}] was removed` }
  const name = old.length === 1 && current.length === 1 ? 'the system text' : `system[${index}]`
  if (was.chunks.length === 0 || is.chunks.length === 0) return { index, detail: `${name} changed` }
  const start = firstChangedChunk(was.chunks, is.chunks)
  return { index, detail: `${name} changed ${describeChange(textOf(index), start)}` }
}

function cut(detail: string): string {
  return detail.length <= LONGEST_DETAIL ? detail : `${detail.slice(0, LONGEST_DETAIL - 1)}…`.toWellFormed()
}
