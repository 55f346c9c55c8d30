import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { EventFramer, printEvent, scanEvents } from './sse.ts'

type Event = readonly [name: string, data: string]

function eventsOf(portions: Iterable<Buffer>): Event[] {
  const events: Event[] = []
  for (const portion of portions) {
    scanEvents(portion, (name, source, start, end) => events.push([name, source.toString('utf8', start, end)]))
  }
  return events
}

/** Returns the portions that the framer makes of `chunks`, and the bytes held back at the end. */
function frame(chunks: Iterable<Buffer>, framer = new EventFramer()): { portions: Buffer[]; rest: Buffer } {
  const portions: Buffer[] = []
  for (const chunk of chunks) {
    const portion = framer.push(chunk)
    if (portion !== undefined) portions.push(portion)
  }
  return { portions, rest: framer.rest() }
}

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return sorted.map((end, i) => bytes.subarray(i === 0 ? 0 : sorted[i - 1], end))
}

/** Parses events by the standard's own wording, line by line over text: the reference for the scanner. */
function referenceEvents(text: string): Event[] {
  const events: Event[] = []
  let [type, data] = ['', '']
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)
  lines.pop() // text after the last line end is no line yet
  for (const line of lines) {
    if (line === '') {
      if (data !== '') events.push([type || 'message', data.slice(0, -1)])
      ;[type, data] = ['', '']
      continue
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? []
    if (field === 'event') type = value
    if (field === 'data') data += `${value}\n`
  }
  return events
}

const text = fc.oneof(
  fc.constantFrom('', ' ', '  padded  ', '{"type":"ping"}   ', ':', 'é👩‍🚀', 'data', '[DONE]', '\u2028', '\0'),
  fc.string({ unit: 'grapheme' }).map((value) => value.replace(/[\r\n]/g, '')),
)
const name = fc.constantFrom(
  'content_block_delta',
  'content_block_start',
  'content_block_stoq',
  'ping',
  'pings',
  'error',
  'x',
  '',
)
const line = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom('data: ', 'data:', 'data:  '), text).map((parts) => parts.join('')),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('event: ', 'event:'), name).map((parts) => parts.join('')) },
  fc.constantFrom(
    'data',
    'event',
    'dat',
    'database: x',
    'events: x',
    ' data: x',
    'id: 1',
    'retry: 10',
    ': comment',
    ':',
  ),
  text,
)
const anyEnd = fc.constantFrom('\n', '\r\n', '\r')
const streamText = fc
  .tuple(
    fc.constantFrom('', '\ufeff'),
    fc.array(fc.tuple(line, anyEnd), { maxLength: 40 }),
    fc.constantFrom('', 'data: cut', 'ev'),
  )
  .map(([mark, lines, tail]) => mark + lines.flat().join('') + tail)
const cuts = fc.array(fc.nat(), { maxLength: 30 })

function holds<T>(t: ExecutionContext, property: fc.IRawProperty<T>): void {
  t.notThrows(() => fc.assert(property, { numRuns: 2000 }))
}

test('scanEvents: finds the events of a reader by the standard, with every line end, comments and garbage', (t) => {
  holds(
    t,
    fc.property(streamText, (stream) => {
      fc.pre(!stream.slice(1).includes('\ufeff'))
      const expected = referenceEvents(stream)
      const found = eventsOf([Buffer.from(stream)])
      if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(JSON.stringify({ found, expected }))
    }),
  )
})

test('EventFramer: however the bytes are cut, the same events come out', (t) => {
  holds(
    t,
    fc.property(streamText, cuts, (stream, places) => {
      const bytes = Buffer.from(stream)
      const found = eventsOf(frame(cutAt(bytes, places)).portions)
      const whole = eventsOf([bytes])
      if (JSON.stringify(found) !== JSON.stringify(whole)) throw new Error(JSON.stringify({ found, whole }))
    }),
  )
})

test('EventFramer: portions and rest are the input, byte for byte', (t) => {
  holds(
    t,
    fc.property(streamText, cuts, fc.constantFrom(1, 7, 50, 16_777_216), (stream, places, maxHeldBytes) => {
      const bytes = Buffer.from(stream)
      const { portions, rest } = frame(cutAt(bytes, places), new EventFramer({ maxHeldBytes }))
      return Buffer.concat([...portions, rest]).equals(bytes)
    }),
  )
})

test('EventFramer: an event put between any two portions is one more event, and changes no other', (t) => {
  const ping = Buffer.from(printEvent({ type: 'inserted' }))
  holds(
    t,
    fc.property(streamText, cuts, (stream, places) => {
      const { portions } = frame(cutAt(Buffer.from(stream), places))
      const found = referenceEvents(portions.flatMap((portion) => [portion, ping]).join(''))
      const others = found.filter(([name]) => name !== 'inserted')
      const expected = referenceEvents(portions.join(''))
      return found.length - others.length === portions.length && JSON.stringify(others) === JSON.stringify(expected)
    }),
  )
})

for (const [name, end] of Object.entries({ LF: '\n', CRLF: '\r\n', CR: '\r' })) {
  test(`EventFramer: ${name} streams keep their events at every single cut and byte by byte`, (t) => {
    const bytes = Buffer.from(['event: ping', 'data: 1', '', ': c', 'data: 2', 'data: 3', '', ''].join(end))
    const expected: Event[] = [
      ['ping', '1'],
      ['message', '2\n3'],
    ]
    for (let place = 0; place <= bytes.length; place++) {
      t.deepEqual(eventsOf(frame(cutAt(bytes, [place])).portions), expected, `cut at ${place}`)
    }
    const { portions, rest } = frame(Array.from(bytes, (byte) => Buffer.of(byte)))
    t.deepEqual(eventsOf(portions), expected)
    t.is(rest.length, 0)
  })
}

test('EventFramer: a chunk of whole events is passed on without a copy', (t) => {
  const chunk = Buffer.from('data: 1\n\ndata: 2\n\n')
  t.is(new EventFramer().push(chunk), chunk)
})

test('EventFramer: a \\r\\n cut in two is one line end', (t) => {
  const framer = new EventFramer()
  t.is(framer.push(Buffer.from('data: 1\r')), undefined)
  t.is(framer.push(Buffer.from('\ndata: 2\r\n')), undefined)
  t.is(framer.push(Buffer.from('\r\n'))?.toString(), 'data: 1\r\ndata: 2\r\n\r\n')
})

test('EventFramer: a blank line that is cut inside its \\r\\n leaves nothing held back', (t) => {
  const { portions, rest } = frame(['data: 1', '\r\n\r', '\n'].map((chunk) => Buffer.from(chunk)))
  t.deepEqual(portions.map(String), ['data: 1\r\n\r', '\n'])
  t.is(rest.length, 0)
})

test('EventFramer: an event without its blank line is held back', (t) => {
  const { portions, rest } = frame([Buffer.from('data: 1\n\ndata: 2\n')])
  t.deepEqual(portions.map(String), ['data: 1\n\n'])
  t.is(rest.toString(), 'data: 2\n')
})

test('EventFramer: an event beyond the bound is released torn, and framing goes on after it', (t) => {
  const framer = new EventFramer({ maxHeldBytes: 8 })
  t.is(framer.push(Buffer.from('data: 12')), undefined)
  t.is(framer.push(Buffer.from('3'))?.toString(), 'data: 123')
  t.true(framer.torn)
  t.is(framer.push(Buffer.from('\n')), undefined, 'the end of a line in mid-event is no event end')
  t.is(framer.push(Buffer.from('\ndata: 4\n\nd'))?.toString(), '\n\ndata: 4\n\n')
  t.false(framer.torn)
  t.is(framer.rest().toString(), 'd')
})

test('EventFramer: a 10 MB event in 16 KB chunks takes linear time', (t) => {
  const event = Buffer.concat([Buffer.from('data: '), Buffer.alloc(10_000_000, 'a'), Buffer.from('\r\n\r\n')])
  const chunks = Array.from({ length: Math.ceil(event.length / 16_384) }, (_, i) =>
    event.subarray(i * 16_384, (i + 1) * 16_384),
  )
  const startedAtMs = performance.now()
  const { portions } = frame(chunks)
  t.true(performance.now() - startedAtMs < 30_000, 'what is not linear takes minutes')
  t.true(portions[0]?.equals(event))
})

test('scanEvents: an event of many data lines takes linear time', (t) => {
  const lines = 200_000
  const bytes = Buffer.from(`${'data:x\n'.repeat(lines)}\n`)
  const startedAtMs = performance.now()
  const events = eventsOf([bytes])
  t.true(performance.now() - startedAtMs < 30_000, 'what is not linear takes minutes')
  t.is(events[0]?.[1].length, lines * 2 - 1)
})

test('scanEvents: one line of data is passed as a range of the portion itself', (t) => {
  const portion = Buffer.from('event: message_stop\ndata: {"type":"message_stop"               }\n\n')
  scanEvents(portion, (name, source, start, end) => {
    t.is(name, 'message_stop')
    t.is(source, portion)
    t.deepEqual(JSON.parse(source.toString('utf8', start, end)), { type: 'message_stop' })
  })
})

test('printEvent: prints events that scanEvents reads', (t) => {
  const event = { type: 'error', error: { type: 'api_error', message: 'line\nbreak \u2028' } }
  const printed = printEvent(event)
  t.is(printed, `event: error\ndata: ${JSON.stringify(event)}\n\n`)
  t.deepEqual(eventsOf([Buffer.from(printed)]), [['error', JSON.stringify(event)]])
})
