import test from 'ava'
import fc from 'fast-check'
import type { ByteSource, ByteSourceSink, Ending } from '../../core/reply/byte-source.ts'
import { withoutUsageChunk } from './usage-filter.ts'

/** A provider's stream in these chunks, and the end of its connection. */
function sourceOf(chunks: readonly Buffer[], error?: Error): ByteSource {
  return {
    start(sink) {
      for (const chunk of chunks) sink.data(chunk)
      if (error === undefined) sink.end()
      else sink.fail(error)
    },
    pause() {},
    resume() {},
    cancel() {},
  }
}

/** Collects the filter's output. */
function filtered(chunks: readonly Buffer[], error?: Error) {
  const pieces: Buffer[] = []
  let ending: Ending | undefined
  const sink: ByteSourceSink = {
    data: (chunk) => void pieces.push(chunk),
    end: (given) => {
      ending = given
    },
    fail: () => {
      throw new Error('a stream of whole events ends by its ending')
    },
  }
  withoutUsageChunk(sourceOf(chunks, error)).start(sink)
  return { text: Buffer.concat(pieces).toString(), pieces, ending }
}

const COUNTED = { inputTokens: 3, outputTokens: 5 }
const delta = (content: string) =>
  `data: {"id":"c","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}},"finish_reason":null}],"usage":null}`
const FINISH = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}'
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":5,"total_tokens":8}}'
const DONE = 'data: [DONE]'

/** Joins a stream with this line end; empty lines are left out. */
const streamOf = (lines: readonly string[], end: string) =>
  lines.map((line) => (line === '' ? '' : `${line}${end}${end}`)).join('')

const bodies = {
  plain: ['', delta('Hi'), FINISH, 'USAGE', DONE],
  'comments around it': [': one', delta('é 😀'), FINISH, ': two', 'USAGE', ': three', DONE],
  'a text that looks like a usage chunk': ['', delta(USAGE), delta('"choices":[],"usage":{'), FINISH, 'USAGE', DONE],
  'a chunk without choices or usage': ['', 'data: {"choices":[],"prompt_filter_results":[]}', FINISH, 'USAGE', DONE],
  'spaces in it': ['', delta('Hi'), FINISH, 'SPACED', DONE],
  'usage twice': ['', delta('Hi'), 'USAGE', FINISH, 'USAGE', DONE],
  'usage at the very end': ['', delta('Hi'), FINISH, DONE, 'USAGE'],
  'usage alone': ['', '', '', 'USAGE', ''],
}
const SPACED = 'data:{ "choices" : [ ] ,\t"usage" : { "prompt_tokens":3, "completion_tokens":5 } }'
const given = (lines: readonly string[]) =>
  lines.map((line) => (line === 'USAGE' ? USAGE : line === 'SPACED' ? SPACED : line))
const kept = (lines: readonly string[]) => lines.map((line) => (line === 'USAGE' || line === 'SPACED' ? '' : line))

for (const [endName, end] of Object.entries({ LF: '\n', CRLF: '\r\n', CR: '\r' })) {
  for (const [claim, lines] of Object.entries(bodies)) {
    test(`usage filter: removes the chunk and nothing else, at any split of the bytes: ${claim} (${endName})`, (t) => {
      const bytes = Buffer.from(streamOf(given(lines), end))
      const expected = streamOf(kept(lines), end)
      t.is(filtered([bytes]).text, expected)
      t.is(filtered([...bytes].map((byte) => Buffer.of(byte))).text, expected)
      for (let cut = 1; cut < bytes.length; cut++) {
        const { text, ending } = filtered([bytes.subarray(0, cut), bytes.subarray(cut)])
        if (text !== expected) t.is(text, expected, `cut at ${cut}`)
        t.like(ending?.usage, COUNTED)
      }
    })
  }
}

test('usage filter: removes the chunk and nothing else, in chunks of any sizes', (t) => {
  const sizes = fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1 })
  const cases = fc.constantFrom(...Object.values(bodies))
  fc.assert(
    fc.property(sizes, cases, fc.constantFrom('\n', '\r\n', '\r'), (cycle, lines, end) => {
      const bytes = Buffer.from(streamOf(given(lines), end))
      const chunks: Buffer[] = []
      for (let at = 0, index = 0; at < bytes.length; index++) {
        const size = cycle[index % cycle.length] ?? 1
        chunks.push(bytes.subarray(at, at + size))
        at += size
      }
      t.is(filtered(chunks).text, streamOf(kept(lines), end))
    }),
  )
})

test('usage filter: emits whole events only, and never an empty one', (t) => {
  const bytes = Buffer.from(streamOf(given(bodies['comments around it']), '\n'))
  const { pieces } = filtered([...bytes].map((byte) => Buffer.of(byte)))
  t.true(pieces.every((piece) => piece.length > 0 && piece.toString().endsWith('\n\n')))
})

test('usage filter: a chunk with usage and a choice stays: the client would miss the choice', (t) => {
  const last =
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}'
  const text = streamOf([delta('Hi'), last, DONE], '\n')
  const result = filtered([Buffer.from(text)])
  t.is(result.text, text)
  t.like(result.ending, { outcome: 'complete' })
  t.like(result.ending?.usage, COUNTED)
})

const cut = new Error('ECONNRESET')
const endings: [
  claim: string,
  lines: string[],
  error: Error | undefined,
  outcome: Ending['outcome'],
  message: RegExp | undefined,
][] = [
  ['after [DONE] is complete', [delta('a'), FINISH, USAGE, DONE], undefined, 'complete', undefined],
  ['after [DONE], by a break, is complete', [delta('a'), FINISH, USAGE, DONE], cut, 'complete', undefined],
  [
    'without [DONE], after its finish_reason, is complete',
    [delta('a'), FINISH, USAGE],
    undefined,
    'complete',
    undefined,
  ],
  ['by a break before [DONE] is not', [delta('a'), FINISH, USAGE], cut, 'incomplete', /ECONNRESET/],
  ['before its finish_reason is not', [delta('a')], undefined, 'incomplete', /before its answer was whole/],
  ['before any event is not', [], undefined, 'incomplete', /before its answer was whole/],
  [
    'by an error of the provider is not, and is reported once',
    ['data: {"error":{"message":"x"}}'],
    undefined,
    'incomplete',
    undefined,
  ],
  [
    'by an error of the provider and [DONE] is not',
    ['data: {"error":{"message":"x"}}', DONE],
    undefined,
    'incomplete',
    undefined,
  ],
]
for (const [claim, lines, error, outcome, message] of endings) {
  test(`usage filter: a stream that ends ${claim}`, (t) => {
    const { ending } = filtered([Buffer.from(streamOf(lines, '\n'))], error)
    t.is(ending?.outcome, outcome)
    if (message === undefined) t.is(ending?.error, undefined)
    else t.regex(String(ending?.error?.message), message)
  })
}

test('usage filter: pauses, resumes and cancels the provider’s stream', (t) => {
  const calls: string[] = []
  const note = (name: string) => () => void calls.push(name)
  const source = withoutUsageChunk({ start() {}, pause: note('pause'), resume: note('resume'), cancel: note('cancel') })
  source.start({ data() {}, end() {}, fail() {} })
  source.pause()
  source.resume()
  source.cancel()
  t.deepEqual(calls, ['pause', 'resume', 'cancel'])
})
