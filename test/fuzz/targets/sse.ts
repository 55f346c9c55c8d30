import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { EventFramer, scanEvents } from '../../../src/core/reply/sse.ts'
import { createPicker, type Fuzzer, promise } from '../fuzzer.ts'

const line = fc.oneof(
  fc.constantFrom(
    'event: ping',
    'event:error',
    'event',
    'data',
    'data:',
    'data: ',
    ': comment',
    'id: 7',
    'retry: 9',
    '',
  ),
  fc.constantFrom('data: {"type":"ping"}', 'data:[DONE]', 'event: content_block_delta', 'dataset: 1', ' data: x'),
  fc.string({ unit: 'binary-ascii', maxLength: 12 }).map((text) => `data: ${text}`),
)
const end = fc.constantFrom('\n', '\n', '\r\n', '\r', '\n\n', '\r\n\r\n', '\r\r')
const BOM = '\xef\xbb\xbf'

/**
 * Streams of events: portions are the input, cut behind blank lines; the events in them are those that a parser written
 * from the standard finds in the whole, whatever the chunks.
 */
export const sse: Fuzzer = {
  name: 'sse',
  seeds: fc.array(fc.tuple(line, end), { maxLength: 12 }).map((lines) => lines.flat().join('')),
  words: ['\n\n', '\r\n\r\n', '\r\r', '\n\r', 'data:', 'event:', ':', BOM, '\0', 'data: a\ndata: b\n\n', 'event: é\n'],
  outcomes: ['events', 'no event'],
  run({ text, salt }) {
    const bytes = Buffer.from(text, 'latin1')
    const expected = eventsOf(bytes.toString('latin1'))
    promise(isDeepStrictEqual(scanned([bytes]), expected), `in one piece: ${JSON.stringify(scanned([bytes]))}`)
    const portions = framed(chunksOf(bytes, salt))
    promise(Buffer.concat(portions).equals(bytes), 'portions are the input')
    const rest = portions.pop()
    promise(isDeepStrictEqual(scanned(portions), expected), 'the same events at any cut')
    for (const portion of portions)
      promise(/(\n|\r)(\r\n|\n|\r)$|^(\r\n|\n|\r)$/.test(portion.toString('latin1')), `ends behind a blank line`)
    promise(rest !== undefined && scanned([rest]).length === 0, 'no whole event is held back')
    return expected.length > 0 ? 'events' : 'no event'
  },
}

function chunksOf(bytes: Buffer, salt: number): Buffer[] {
  const pick = createPicker(salt)
  const longest = 1 + pick(40)
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const next = at + 1 + pick(longest)
    chunks.push(bytes.subarray(at, next))
    at = next
  }
  return chunks
}

/** The portions, and last what is held back. */
function framed(chunks: readonly Buffer[]): Buffer[] {
  const framer = new EventFramer()
  return [...chunks.flatMap((chunk) => framer.push(chunk) ?? []), framer.rest()]
}

function scanned(portions: readonly Buffer[]): [string, string][] {
  const events: [string, string][] = []
  for (const portion of portions)
    scanEvents(portion, (name, source, from, to) => events.push([name, source.toString('latin1', from, to)]))
  return events
}

/** WHATWG HTML, section 9.2.6, on latin1; a mark at the beginning of any line is skipped. */
function eventsOf(text: string): [string, string][] {
  const events: [string, string][] = []
  let name = ''
  let data: string[] = []
  const lines = text.split(/\r\n|\n|\r/)
  lines.pop()
  for (const each of lines) {
    if (each === '') {
      if (data.length > 0) events.push([Buffer.from(name || 'message', 'latin1').toString(), data.join('\n')])
      name = ''
      data = []
      continue
    }
    const [, field = '', value = ''] =
      /^([^:]*)(?:: ?([\s\S]*))?$/.exec(each.startsWith(BOM) ? each.slice(3) : each) ?? []
    if (field === 'event') name = value
    if (field === 'data') data.push(value)
  }
  return events
}
