import { importEntry } from '../entry.mjs'

export const { BytesReply, Flow, StreamReply, betasOf, children, compactCopy, joined, parseJson, preservedRanges } =
  await importEntry('plugin/bytes')
