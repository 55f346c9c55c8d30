import test from 'ava'
import fc from 'fast-check'
import { withoutPings } from './pings.ts'

const without = (text: string) => withoutPings(Buffer.from(text)).toString()
const EVENT = 'event: content_block_delta\ndata: {"type":"content_block_delta","text":"event: ping"}\n\n'

for (const [claim, ping] of Object.entries({
  'an event of the name': 'event: ping\ndata: {"type": "ping"}\n\n',
  'its data alone': 'data: {"type":"ping"}\n\n',
  'a name without a space': 'event:ping\ndata:{}\n\n',
  'carriage returns': 'event: ping\r\ndata: {"type": "ping"}\r\n\r\n',
  'lone carriage returns': 'event: ping\rdata: {}\r\r',
  'a comment': ': keep-alive\n\n',
  'an empty comment': ':\n\n',
})) {
  test(`pings: ${claim} is removed, wherever it is`, (t) => {
    t.is(without(ping + EVENT + ping + ping + EVENT + ping), EVENT + EVENT)
    t.is(without(ping), '')
  })
}

for (const [claim, text] of Object.entries({
  'a text that speaks of pings': EVENT,
  'an event with a comment in it': ': note\nevent: message_stop\ndata: {}\n\n',
  'an event whose name begins so': 'event: pings\ndata: {}\n\n',
  'a ping without its blank line': `${EVENT}event: ping\ndata: {}`,
  nothing: '',
})) {
  test(`pings: ${claim} stays as it is`, (t) => t.is(without(text), text))
}

test('pings: a stream without any is the same buffer', (t) => {
  const bytes = Buffer.from('event: message_stop\ndata: {}\n\n')
  t.is(withoutPings(bytes), bytes)
})

test('pings: are found among any lines, whichever line ends the stream has', (t) => {
  const line = fc.constantFrom(
    'event: ping',
    'data: {"type":"ping"}',
    ': note',
    'data: ping : pong',
    'event: x',
    ':',
    '',
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), fc.boolean(), (lines, isEnded) => {
      const text = lines.join('\n') + (isEnded ? '\n\n' : '')
      t.is(without(text.replaceAll('\n', '\r\n')), without(text).replaceAll('\n', '\r\n'), JSON.stringify(text))
    }),
    { numRuns: 2000 },
  )
})
