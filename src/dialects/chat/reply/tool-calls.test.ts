import test from 'ava'
import fc from 'fast-check'
import { ObjectProgress } from './object-progress.ts'
import { callIdOf, callsOf, inputOf } from './tool-calls.ts'

const place = (message: unknown) => ({ json: () => JSON.stringify({ message }), path: ['message'] })

for (const text of ['{"a":1.0}', '{"n":9007199254740993}', '{"10":1,"2":2}', '{ "e" : "\\u00e9\\"" }\n']) {
  test(`tool calls: the input of ${text.trim()} is that very text`, (t) => {
    t.is(inputOf(text), text)
  })
}

for (const text of ['', ' \n', 'null']) {
  test(`tool calls: arguments of ${JSON.stringify(text)} are an empty input`, (t) => {
    t.is(inputOf(text), '{}')
  })
}

test('tool calls: arguments that are no JSON object are kept as text', (t) => {
  for (const text of ['{"a":', '[1]', '"x"', '7', 'look!']) t.deepEqual(JSON.parse(inputOf(text)), { arguments: text })
})

test('tool calls: a lone surrogate in the arguments survives as UTF-8', (t) => {
  const input = Buffer.from(inputOf('{"half":"\ud83d"}')).toString()
  t.is(JSON.parse(input).half, '\ud83d')
})

test('tool calls: a missing id is generated, deterministic and different for each call', (t) => {
  t.is(callIdOf('chatcmpl-1', 0), callIdOf('chatcmpl-1', 0))
  t.not(callIdOf('chatcmpl-1', 0), callIdOf('chatcmpl-1', 1))
  t.not(callIdOf('chatcmpl-1', 0), callIdOf('chatcmpl-2', 0))
  t.regex(callIdOf('chatcmpl-1', 0), /^[a-zA-Z0-9_-]{1,40}$/)
})

test('tool calls: the legacy function_call is a call', (t) => {
  const said = { function_call: { name: 'look', arguments: '{}' } }
  t.deepEqual(callsOf(said, place(said)), [{ index: undefined, id: '', name: 'look', arguments: '{}' }])
})

test('tool calls: arguments that come as an object keep their numbers', (t) => {
  const json = () => '{"é":1,"message":{"tool_calls":[null,{"function":{"name":"f","arguments":{"a":1.0,"ü":"€"}}}]}}'
  const [call] = callsOf(JSON.parse(json()).message, { json, path: ['message'] })
  t.is(call?.arguments, '{"a":1.0,"ü":"€"}')
})

test('tool calls: no data that a server sends for calls makes reading throw', (t) => {
  const said = fc.record({ tool_calls: fc.jsonValue(), function_call: fc.jsonValue() })
  t.notThrows(() => fc.assert(fc.property(said, (value) => callsOf(value, place(value)).every(Boolean))))
})

function stateAfter(...pieces: string[]): string {
  const progress = new ObjectProgress()
  for (const piece of pieces) progress.take(piece)
  return progress.state
}

test('object progress: an object is complete at its last brace and not before, at any split', (t) => {
  const object = fc.dictionary(fc.string(), fc.jsonValue())
  t.notThrows(() =>
    fc.assert(
      fc.property(object, fc.nat(), fc.constantFrom(0, 2), (value, at, indent) => {
        const text = JSON.stringify(value, null, indent)
        const cut = at % text.length
        t.is(stateAfter(text.slice(0, cut)), cut === 0 ? 'blank' : 'inside')
        t.is(stateAfter(text.slice(0, cut), text.slice(cut)), 'whole')
      }),
    ),
  )
})

test('object progress: white space before and after an object is ignored', (t) => {
  t.is(stateAfter(' \n', '\t'), 'blank')
  t.is(stateAfter(' {}', '\n '), 'whole')
})

test('object progress: text after an object is excess', (t) => {
  t.is(stateAfter('{}', '{"a":1}'), 'excess')
})

test('object progress: text with another beginning is no object', (t) => {
  for (const text of ['[{}]', 'null', '"{}"', '1']) t.is(stateAfter(text), 'other')
})
