import test from 'ava'
import fc from 'fast-check'
import { createMessagesPartReader } from '../reply/messages-parts.ts'
import { printEvent, scanEvents } from '../reply/sse.ts'
import { createPartRewriter } from './part-rewriter.ts'
import { replaceText } from './replace-text.ts'
import { inputPartMap, inputTextPartMap, type MapText, textPartMap } from './text-map.ts'

const STOP = printEvent({ type: 'content_block_stop', index: 0 } as { type: string })

function deltas(pieces: readonly string[], kind: 'text' | 'input' = 'text'): Buffer[] {
  return pieces.map((piece) => {
    const delta =
      kind === 'text' ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece }
    const event = { type: 'content_block_delta', index: 0, delta }
    return Buffer.from(printEvent(event))
  })
}

/** Returns the text of a stream of deltas. */
function textIn(bytes: Buffer): string {
  let text = ''
  scanEvents(bytes, (name, source, start, end) => {
    if (name !== 'content_block_delta') return
    const { delta } = JSON.parse(source.toString('utf8', start, end))
    text += delta.text ?? delta.partial_json
  })
  return text
}

/** Sends events through a rewriter, one portion each, and ends the text. */
function rewritten(events: readonly Buffer[], map: MapText): Buffer {
  const rewriter = createPartRewriter(createMessagesPartReader(), textPartMap(map))
  return Buffer.concat([...[...events, Buffer.from(STOP)].map((event) => rewriter.take(event)), rewriter.finish()])
}

function cutAt(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((place, index) => text.slice(place, places[index] ?? text.length))
}

const texts = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '"', '\\', 'é', '😀'), maxLength: 60 })
const cuts = fc.array(fc.nat(60), { maxLength: 20 })

test('rewriting: a pattern is replaced in a stream as it is in the whole text, however that is cut', (t) => {
  const patterns = [/ab/g, /\bab?\b/, /a{1,3}/, /(?<=b)a+?(?=b)/, /😀|é/u, /^a/, /b$/, /a*/]
  fc.assert(
    fc.property(texts, cuts, fc.constantFrom(...patterns), (text, places, pattern) => {
      const longest = Math.max(1, ...Array.from(text.matchAll(new RegExp(pattern, 'gu')), ([found]) => found.length))
      const map = replaceText(pattern, (found) => `<${found.length}>`, { longest })
      const whole = map(text, { before: '', isLast: true })
      const expected = text === '' ? '' : typeof whole === 'string' ? whole : whole.text
      t.is(textIn(rewritten(deltas(cutAt(text, places)), map)), expected)
    }),
  )
})

test('rewriting: a stream of which nothing is rewritten is the same bytes, and none is held after its end', (t) => {
  fc.assert(
    fc.property(texts, cuts, fc.nat(20), (text, places, keep) => {
      const events = deltas(cutAt(text, places))
      const held: MapText = (piece, { isLast }) => {
        const kept = isLast ? 0 : Math.min(keep, piece.length)
        return { text: piece.slice(0, piece.length - kept), keep: kept }
      }
      t.is(rewritten(events, held).toString(), Buffer.concat([...events, Buffer.from(STOP)]).toString())
    }),
  )
})

test('rewriting: text that a function adds at an end is in the reply, and omitted text is not', (t) => {
  const framed: MapText = (text, { before, isLast }) =>
    isLast ? { text: `${before === '' ? '<' : ''}${text}>`, keep: 0 } : { text: text.slice(0, -1), keep: 1 }
  t.is(textIn(rewritten(deltas(['one ', 'two', ' three']), framed)), 'one two three>')
  t.is(textIn(rewritten(deltas(['one ', 'two']), () => '')), '')
})

for (const [what, count] of [
  ['in one event', 1],
  ['in a thousand', 1000],
] as const)
  test(`rewriting: a large text is given to the function once, apart from kept characters: ${what}`, (t) => {
    const piece = 'some words of a text '.repeat(400_000 / count)
    let given = 0
    const search = replaceText(/words/, 'WORDS', { longest: 20 })
    const bytes = rewritten(deltas(Array.from({ length: count }, () => piece)), (text, around) => {
      given += text.length
      return search(text, around)
    })
    t.is(textIn(bytes).length, count * piece.length)
    t.true(given <= count * (piece.length + 20) + 20, `${given} characters given`)
  })

test('rewriting: arguments in many chunks are given to the function once', (t) => {
  const json = JSON.stringify({ text: 'x'.repeat(200_000) })
  let calls = 0
  const map = inputPartMap((text) => {
    calls++
    return text.replace('x', 'y')
  })
  const rewriter = createPartRewriter(createMessagesPartReader(), map)
  const pieces = json.match(/.{1,4}/g) ?? []
  const parts = [...deltas(pieces, 'input'), Buffer.from(STOP)].map((event) => rewriter.take(event))
  t.is(calls, 1)
  t.is(textIn(Buffer.concat(parts)), json.replace('x', 'y'))
})

test('rewriting: undecided text is bounded, and returned whole', (t) => {
  const rewriter = createPartRewriter(
    createMessagesPartReader(),
    textPartMap((text, { isLast }) => ({ text: isLast ? text : '', keep: isLast ? 0 : text.length })),
  )
  const events = deltas(Array.from({ length: 100 }, () => 'x'.repeat(1000)))
  const taken: Buffer[] = []
  const error = t.throws(() => {
    for (const event of events) {
      taken.push(event)
      t.is(rewriter.take(event).length, 0)
    }
  })
  t.regex(error?.message ?? '', /more than 65536 characters wait for a decision/)
  t.is(rewriter.giveUp().toString(), Buffer.concat(taken).toString())
  const later = Buffer.from(STOP)
  t.is(rewriter.take(later), later)
  t.false(rewriter.hasChanged)
})

test('rewriting: the results of a function and the length of a match are bounded', (t) => {
  const wrong: MapText = (text) => ({ text, keep: text.length + 1 })
  t.throws(() => rewritten(deltas(['one']), wrong), { message: /expected `keep` from 0 to 3, got 4/ })
  t.throws(() => rewritten(deltas(['one']), () => ({ text: '', keep: 3 })), { message: /for the last piece/ })
  t.throws(() => replaceText(/a/, '', { longest: 0 }), { message: /from 1 to 1000/ })
  t.throws(() => rewritten(deltas(['aaaa ']), replaceText(/a+/, '', { longest: 2 })), { message: /4 characters long/ })
})

test('rewriting: arguments of a tool that are rewritten as text pass as they arrive', (t) => {
  const map = replaceText(/ab/, '<>', { longest: 2 })
  const rewriter = createPartRewriter(createMessagesPartReader(), inputTextPartMap(map))
  const passed = deltas(['{"x":"12345', 'abab', '6"}'], 'input').map((event) => textIn(rewriter.take(event)))
  const rest = textIn(Buffer.concat([rewriter.take(Buffer.from(STOP)), rewriter.finish()]))
  t.is(passed.join('') + rest, '{"x":"12345<><>6"}')
  t.deepEqual(
    passed.map((text) => text !== ''),
    [false, true, true],
  )
})
