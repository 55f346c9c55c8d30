import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import {
  brokenRequests,
  requests as goodRequests,
  jsonObjects,
  jsonTexts,
} from '../../../test/support/request-bodies.ts'
import { ambiguityOf } from '../../../test/support/strict-json.ts'
import { GatewayError } from '../errors.ts'
import { messageRequestSchema, scalarFieldsSchema } from '../request/message.ts'
import { children, ScanError, scanRequest } from './scan.ts'
import { MAX_DEPTH } from './scan-value.ts'

const RUNS = { numRuns: 500 }

/** Builds the document's value from the slices that `children` finds. */
function assemble(bytes: Buffer, text: string, start: number, end: number): unknown {
  const first = text[start]
  if (first !== '{' && first !== '[') return JSON.parse(bytes.toString('utf8', start, end))
  const found = children(text, start)
  const values = found.map((child) => assemble(bytes, text, child.start, child.end))
  return first === '[' ? values : Object.fromEntries(found.map(({ key }, i) => [key, values[i]]))
}

function shapeOf(text: string) {
  return scanRequest(Buffer.from(text))
}

function errorOf(body: string | Buffer): ScanError {
  try {
    scanRequest(Buffer.from(body))
  } catch (error) {
    if (error instanceof ScanError) return error
    throw error
  }
  throw new Error('accepted')
}

function accepts(run: () => unknown): boolean {
  try {
    run()
    return true
  } catch (error) {
    if (error instanceof ScanError || error instanceof SyntaxError || error instanceof GatewayError) return false
    throw error
  }
}

test('children: the slices make the value that JSON.parse reads', (t) => {
  fc.assert(
    fc.property(jsonTexts, (json) => {
      const bytes = Buffer.from(json)
      const trimmed = json.trim()
      const start = json.indexOf(trimmed)
      const end = start + Buffer.byteLength(trimmed)
      t.deepEqual(assemble(bytes, bytes.toString('latin1'), start, end), JSON.parse(json))
    }),
    // Always the same: once in some ten thousand texts, V8's own JSON.parse (Node 26.10) reads an escaped key wrongly.
    { ...RUNS, seed: 45 },
  )
})

test('children: strings with many escaped quotes end where they end in their own text, and in no other of its length', (t) => {
  const quotes = '\\"'.repeat(50)
  const texts = [`[["${quotes}aa"],"b"]`, `[["${quotes}"],"aab"]`, `[["${quotes}aa"],"b"]`, `[["a${quotes}"],"ab"]`]
  t.is(new Set(texts.map(({ length }) => length)).size, 1)
  for (const json of [...texts, ...texts].flatMap((text) => [text, Buffer.from(text).toString('latin1')]))
    t.deepEqual(assemble(Buffer.from(json), json, 0, json.length), JSON.parse(json))
})

test('children: keys are decoded from escapes and from UTF-8', (t) => {
  const text = Buffer.from('{"é":1,"\\u00e9x":2,"a\\"b":3,"\\ud83d\\ude00":4}').toString('latin1')
  t.deepEqual(
    children(text, 0).map(({ key }) => key),
    ['é', 'éx', 'a"b', '😀'],
  )
})

test('children: a repeated key is there twice', (t) => {
  t.deepEqual(children('{"a":1,"a":2}', 0), [
    { key: 'a', start: 5, end: 6 },
    { key: 'a', start: 11, end: 12 },
  ])
})

test('children: a structural fault is named with its byte offset', (t) => {
  const cases: [string, number, RegExp][] = [
    ['5', 0, /an object or an array, got '5'/],
    ['[1 2]', 3, /',' or '\]', got '2'/],
    ['[1,]', 3, /a value, got '\]'/],
    ['[01]', 2, /',' or '\]', got '1'/],
    ['[-]', 2, /a digit, got '\]'/],
    ['[1.]', 3, /a digit/],
    ['[1e]', 3, /a digit/],
    ['[tru]', 4, /'true', got '\]'/],
    ['{"a" 1}', 5, /':' after a key/],
    ['{a:1}', 1, /a key in double quotes/],
    ['{"a":1', 6, /',' or '}', got the end of the document/],
    ['["a', 3, /a string is not closed/],
    ['{"\\x":1}', 1, /a key with a wrong escape/],
    ['[\u00e9]', 1, /got byte 0xe9/],
  ]
  for (const [text, position, message] of cases) {
    const error = t.throws(() => children(text, 0), { instanceOf: ScanError, message })
    t.is(error?.position, position, text)
  }
})

test('scanRequest: fields and messages are where their values are', (t) => {
  const json = ' { "model" : "m" , "é" : [ 1.0 ] , "messages" : [ {"role":"user"} , 5 ] } '
  const bytes = Buffer.from(json)
  const { fields, messages } = scanRequest(bytes)
  const slice = ({ start, end }: { start: number; end: number }) => bytes.toString('utf8', start, end)
  t.deepEqual(
    Array.from(fields, ([name, range]) => [name, slice(range)]),
    [
      ['model', '"m"'],
      ['é', '[ 1.0 ]'],
      ['messages', '[ {"role":"user"} , 5 ]'],
    ],
  )
  t.deepEqual(messages.map(slice), ['{"role":"user"}', '5'])
})

test('scanRequest: a body that is no JSON object in UTF-8 is refused at the byte at fault', (t) => {
  t.is(errorOf('').position, 0)
  t.is(errorOf('[]').position, 0)
  t.is(errorOf('  "x"').position, 2)
  t.is(errorOf('{} x').position, 3)
  t.is(errorOf('{}{}').position, 2)
  t.is(errorOf('{"a":1,}').position, 7)
  t.is(errorOf('\ufeff{}').position, 0)
  t.is(errorOf(Buffer.from([...Buffer.from('{"é":"'), 0xe9, 0x22, 0x7d])).position, 7)
})

test('scanRequest: accepts and refuses as JSON.parse does when structural bytes change', (t) => {
  const counts = { accepted: 0, refused: 0 }
  const change = fc.constantFrom('delete', 'insert', 'replace')
  const byte = fc.constantFrom('{', '}', '[', ']', ',', ':', '-', '0', '.', 'e', ' ')
  fc.assert(
    fc.property(jsonObjects, fc.nat(), change, byte, (json, choice, operation, inserted) => {
      const places = structuralPlaces(json)
      const at = places[choice % places.length] ?? 0
      const kept = operation === 'insert' ? at : at + 1
      const changed = json.slice(0, at) + (operation === 'delete' ? '' : inserted) + json.slice(kept)
      const isObject = accepts(() => JSON.parse(changed)) && changed.trim().startsWith('{')
      const expected = isObject && ambiguityOf(changed) === undefined
      counts[expected ? 'accepted' : 'refused']++
      t.is(
        accepts(() => shapeOf(changed)),
        expected,
        changed,
      )
    }),
    { numRuns: 2000 },
  )
  t.log(counts)
  t.true(counts.accepted > 5 && counts.refused > 50, JSON.stringify(counts))
})

/** Lists indexes of structural characters outside strings. */
function structuralPlaces(json: string): number[] {
  return Array.from(json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g))
    .filter(([token]) => !token.startsWith('"'))
    .map(({ index }) => index)
}

test('scanRequest: compact valid requests are plain, in any order of keys', (t) => {
  fc.assert(
    fc.property(goodRequests, (request) => {
      const json = JSON.stringify(request)
      t.true(messageRequestSchema.safeParse(JSON.parse(json)).success, json)
      t.true(shapeOf(json).plain, json)
    }),
    { numRuns: 300 },
  )
})

test('scanRequest: a plain request with good scalars is accepted by the schema', (t) => {
  const counts = { plain: 0, refused: 0, unsure: 0, ambiguous: 0 }
  fc.assert(
    fc.property(fc.oneof(brokenRequests, goodRequests), fc.nat(), fc.nat({ max: 12 }), (request, choice, disguise) => {
      const json = disguised(JSON.stringify(request), choice, disguise)
      const parsed: unknown = JSON.parse(json)
      const accepted = messageRequestSchema.safeParse(parsed).success
      const isAmbiguous = ambiguityOf(json) !== undefined
      t.is(
        accepts(() => shapeOf(json)),
        !isAmbiguous,
        json,
      )
      if (isAmbiguous) {
        counts.ambiguous++
        return
      }
      const { plain } = shapeOf(json)
      if (plain && scalarFieldsSchema.safeParse(parsed).success) t.true(accepted, json)
      if (!plain) counts[accepted ? 'unsure' : 'refused']++
      else counts.plain++
    }),
    { numRuns: 2000 },
  )
  t.log(counts)
  t.true(counts.plain > 20 && counts.refused > 20 && counts.unsure > 5 && counts.ambiguous > 20, JSON.stringify(counts))
})

/** Escapes one of a document's string members, or repeats it before or after; mostly changes nothing. */
function disguised(json: string, choice: number, disguise: number): string {
  const found = Array.from(json.matchAll(/(?<=[{,])"(\w)(\w*)":("(?:[^"\\]|\\.)*")/g))
  const member = found[choice % found.length]
  if (member === undefined) return json
  const [text, initial = '', rest = '', value] = member
  const before = json.slice(0, member.index)
  const after = json.slice(member.index + text.length)
  const escaped = `"\\u00${initial.charCodeAt(0).toString(16)}${rest}"`
  const forms = [`${escaped}:${value}`, `${escaped}:5,${text}`, `${text},${escaped}:5`, `"${initial}${rest}":5,${text}`]
  return before + (forms[disguise] ?? text) + after
}

test('scanRequest: an escape hides no fault', (t) => {
  const isPlain = (message: string) => shapeOf(`{"messages":[${message}]}`).plain
  t.false(isPlain('{"role":"us\\u0065r","content":"x"}'))
  t.false(isPlain('{"role":"user","content":[{"type":"t\\u0065xt"}]}'))
  t.false(isPlain('{"role":"user","content":[{"typ\\u0065":"text"}]}'))
})

function refusalOf(text: string): string {
  try {
    scanRequest(Buffer.from(text))
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message
    throw error
  }
  return 'accepted'
}

const withMessage = (message: string) => `{"messages":[{"role":"user","content":"a"},${message}]}`
const DATA_WITH_DUPLICATE = '{"a":1,"a":{"b":1,"b":2},"Type":"x","type":1e400}'

test('scanRequest: a name that appears twice in an object is refused at every depth, however it is written', (t) => {
  const cases: [string, string][] = [
    ['{"model":"a","messages":[],"model":"b"}', 'model'],
    ['{"model":"a","messages":[],"mod\\u0065l":"b"}', 'model'],
    ['{"é":"a","messages":[],"\\u00e9":"b"}', '["é"]'],
    ['{"metadata":{"user_id":"a","user_id":"b"}}', 'metadata.user_id'],
    ['{"novel":[0,{"a":{"b":1,"c":2,"b":3}}]}', 'novel[1].a.b'],
    ['{"tools":[{"type":"custom","name":"a","type":"web_search_20250305"}]}', 'tools[0].type'],
    ['{"tools":[{"defer_loading":true,"defer_loadin\\u0067":false}]}', 'tools[0].defer_loading'],
    [withMessage('{"role":"user","content":"a","content":"b"}'), 'messages[1].content'],
    [withMessage('{"role":"user","cont\\u0065nt":"a","content":"b"}'), 'messages[1].content'],
    [
      withMessage('{"role":"user","content":[{"type":"thinking","text":"a","type":"text"}]}'),
      'messages[1].content[0].type',
    ],
    [
      withMessage('{"role":"user","content":[{"source":{"data":"a","data":"b"}}]}'),
      'messages[1].content[0].source.data',
    ],
    [withMessage('{"tool_calls":[{"function":{"name":"a","name":"b"}}]}'), 'messages[1].tool_calls[0].function.name'],
  ]
  for (const [text, place] of cases) t.is(refusalOf(text), `${place}: the member appears twice in its object.`)
})

test('scanRequest: a known name in another case is refused wherever names are those of the API', (t) => {
  const cases: [string, string, string][] = [
    ['{"Model":"a"}', 'Model', 'model'],
    ['{"model":"a","MAX_TOKENS":5}', 'MAX_TOKENS', 'max_tokens'],
    ['{"mod\\u0045l":"a"}', 'modEl', 'model'],
    ['{"meſſages":[]}', '["meſſages"]', 'messages'],
    ['{"max_toKens":5}', '["max_toKens"]', 'max_tokens'],
    [withMessage('{"Role":"user","content":"a"}'), 'messages[1].Role', 'role'],
    [withMessage('{"content":[{"type":"text","Text":"a"}]}'), 'messages[1].content[0].Text', 'text'],
    ['{"tools":[{"Input_Schema":{}}]}', 'tools[0].Input_Schema', 'input_schema'],
    ['{"tools":[{"function":{"DESCRIPTION":"a"}}]}', 'tools[0].function.DESCRIPTION', 'description'],
    ['{"fallbacks":[{"Model":"a"}]}', 'fallbacks[0].Model', 'model'],
    [withMessage('{"content":[{"source":{"Data":"a"}}]}'), 'messages[1].content[0].source.Data', 'data'],
    [withMessage('{"novel":{"Data":1},"Content":"a"}'), 'messages[1].Content', 'content'],
  ]
  for (const [text, place, known] of cases) t.is(refusalOf(text), `${place}: expected \`${known}\` in lower case.`)
})

test('scanRequest: data of tools, labels and unknown fields keep their own names', (t) => {
  for (const text of [
    `{"tools":[{"input_schema":${DATA_WITH_DUPLICATE}},{"function":{"parameters":${DATA_WITH_DUPLICATE}}}]}`,
    withMessage(`{"content":[{"type":"tool_use","input":${DATA_WITH_DUPLICATE}}]}`),
    withMessage(`{"content":[{"type":"server_tool_use","inp\\u0075t":${DATA_WITH_DUPLICATE}}]}`),
    `{"response_format":{"json_schema":{"schema":${DATA_WITH_DUPLICATE}}}}`,
    '{"metadata":{"Model":"a","Type":"b"},"novel":{"Model":"a"},"NOVEL":1}',
    `{"tools":[{"input_examples":[${DATA_WITH_DUPLICATE}]}]}`,
    '{"tools":[{"type":"mcp_toolset","configs":{"ID":{"enabled":false},"Name":{}}}]}',
    withMessage('{"content":[{"type":"tool_result","structuredContent":{"ID":1,"rows":[{"Name":1e400}]}}]}'),
    withMessage('{"parsed":{"ID":1},"tool_calls":[{"function":{"parsed_arguments":{"Text":1}}}]}'),
  ])
    t.is(refusalOf(text), 'accepted', text)
})

test('scanRequest: a number that no double holds is refused, outside data and unknown fields', (t) => {
  t.is(refusalOf('{"max_tokens":1e400}'), 'max_tokens: expected a number below 1.8e308.')
  t.is(
    refusalOf('{"thinking":[1,{"budget_tokens":-1e309}]}'),
    'thinking[1].budget_tokens: expected a number below 1.8e308.',
  )
  t.is(refusalOf(`{"n":${'9'.repeat(400)}}`), 'n: expected a number below 1.8e308.')
  t.is(refusalOf('{"max_tokens":1e308,"n":-0.0000001}'), 'accepted')
})

test('scanRequest: fields, tools, elements and values have limits, in data too', (t) => {
  const fields = (count: number) => Array.from({ length: count }, (_, i) => `"f${i}":0`).join(',')
  t.is(refusalOf(`{${fields(256)}}`), 'accepted')
  t.is(refusalOf(`{${fields(257)}}`), 'f256: expected at most 256 fields.')
  const list = (value: string, count: number) => `[${Array(count).fill(value).join(',')}]`
  const name = 'k'.repeat(1025)
  t.is(refusalOf(`{"${name.slice(1)}":0,"a":{"${name.slice(1)}":0}}`), 'accepted')
  t.is(refusalOf(`{"${name}":0}`), `["${name.slice(0, 64)}"]: expected a name of at most 1024 bytes.`)
  t.is(refusalOf(`{"a":{"${name}":0}}`), `a["${name.slice(0, 64)}"]: expected a name of at most 1024 bytes.`)
  t.notThrows(() => scanRequest(Buffer.from(`{"tools":[{"input_schema":{"${name}":0}}]}`)))
  t.is(refusalOf(`{"tools":${list('{}', 10_001)}}`), 'tools[10000]: expected at most 10000 elements.')
  t.is(refusalOf(`{"messages":${list('0', 100_001)}}`), 'messages[100000]: expected at most 100000 elements.')
  const values = 'expected at most 250000 values in the body.'
  t.is(refusalOf(`{"novel":{"a":${list('[0]', 99_999)},"b":${list('{}', 99_999)}}}`).slice(-values.length), values)
  t.is(refusalOf(`{"tools":[{"input_schema":{"enum":${list('0', 250_000)}}}]}`).slice(-values.length), values)
})

test('scanRequest: the path of a refusal is short, whatever the names', (t) => {
  const long = 'x'.repeat(100_000)
  t.true(refusalOf(`{"${long}":{"a":1,"a":2}}`).length < 400)
  t.true(refusalOf(`{"a":${'{"some_name":'.repeat(250)}{"a":1,"a":2}${'}'.repeat(251)}`).length < 400)
})

test('scanRequest: raw line ends and tabs, and escaped names, make a request not plain', (t) => {
  const messages = '"messages":[{"role":"user","content":"x"}]'
  t.true(shapeOf(`{${messages}}`).plain)
  for (const space of ['\n', '\r', '\t']) t.false(shapeOf(`{${messages}${space}}`).plain)
  t.false(shapeOf(`{${messages},"\\u0061":1}`).plain)
  t.false(shapeOf('{"messages":[{"role":"user","content":"a\tb"}]}').plain)
  t.false(shapeOf('{}').plain)
})

test('scanRequest: the longest lifetime of a cache mark, in content and options, not in data', (t) => {
  const marked = (mark: string) => `{"system":[{"type":"text","text":"hi",${mark}}]}`
  const cases: readonly (readonly [body: string, cacheMarks: 'none' | '5m' | '1h'])[] = [
    ['{"system":"\\"cache_control\\":1h"}', 'none'],
    ['{"tools":[{"name":"a","input_schema":{"cache_control":{"ttl":"1h"}}}]}', 'none'],
    [marked('"cache_control":{"type":"ephemeral"}'), '5m'],
    [marked('"cache_control":{"ttl":"5m","type":"ephemeral"}'), '5m'],
    [marked('"cache_control":{"type":"ephemeral","ttl":"1h"}'), '1h'],
    [marked('"cache_control":{"type":"ephemeral","ttl":"\\u0035m"}'), '1h'],
    [marked('"cache\\u005fcontrol":{"type":"ephemeral"}'), '1h'],
    ['{"cache_control":{"type":"ephemeral"}}', '5m'],
    ['{"cache_control":{"type":"ephemeral","ttl":"1h"}}', '1h'],
    ['{"tools":[{"name":"a","cache_control":{"type":"ephemeral"}}]}', '5m'],
  ]
  for (const [body, cacheMarks] of cases) t.is(shapeOf(body).cacheMarks, cacheMarks, body)
})

test('scanRequest: nesting is bounded, and the error names the place', (t) => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  t.notThrows(() => shapeOf(nested(MAX_DEPTH)))
  t.like(errorOf(nested(MAX_DEPTH + 1)), { reason: 'nesting deeper than 256 levels', position: MAX_DEPTH + 4 })
  const inMessages = `{"messages":${'[{"role":"user","content":'.repeat(MAX_DEPTH)}`
  t.regex(errorOf(inMessages).message, /nesting deeper than 256 levels/)
})

test('scanRequest: 32 MB of brackets, quotes or backslashes are scanned in linear time', (t) => {
  const size = 32 << 20
  const bodies = [`{"a":${'['.repeat(size)}`, `{"a":"${'\\'.repeat(size)}"}`, `{"a":"${'\\"'.repeat(size / 2)}"}`]
  for (const body of bodies) {
    const bytes = Buffer.from(body)
    const startedAtMs = performance.now()
    accepts(() => scanRequest(bytes))
    t.true(performance.now() - startedAtMs < 30_000, 'what is not linear takes minutes')
  }
})

const dataFolder = process.env.TURNPIKE_DATA ?? path.join(import.meta.dirname, '../../../../shared/data')

interface Call {
  url?: string
  body?: unknown
}

function filesIn(folder: string): { file: string; content: unknown }[] {
  const files = readdirSync(path.join(dataFolder, folder)).filter((file) => file.endsWith('.json'))
  return files.map((file) => ({ file, content: JSON.parse(readFileSync(path.join(dataFolder, folder, file), 'utf8')) }))
}

function isDataAbsent(t: ExecutionContext): boolean {
  if (existsSync(dataFolder)) return false
  t.log(`no data in ${dataFolder}: set TURNPIKE_DATA`)
  t.pass()
  return true
}

function isMessagesCall({ url, body }: Call): boolean {
  return typeof body === 'object' && body !== null && /\/v1\/messages(\/count_tokens)?(\?|$)/.test(url ?? '')
}

test('scanRequest: requests of real clients are plain', (t) => {
  if (isDataAbsent(t)) return
  // The files are lists of calls, see their README.
  const calls = filesIn('clients').flatMap(({ content }) => content as Call[])
  const bodies = calls.filter(isMessagesCall).map(({ body }) => JSON.stringify(body))
  t.true(bodies.length > 10)
  for (const body of bodies) t.true(shapeOf(body).plain, body.slice(0, 200))
})

test('scanRequest: the requests of the recordings are plain', (t) => {
  if (isDataAbsent(t)) return
  const calls = filesIn('recordings').flatMap(({ content }) => {
    const recording = content as { api?: string; interactions?: { request?: Call }[] }
    return recording.api === 'anthropic' ? (recording.interactions ?? []) : []
  })
  const requests = calls.flatMap(({ request }) => request ?? []).filter(isMessagesCall)
  const bodies = requests.map(({ body }) => JSON.stringify(body))
  t.true(bodies.length > 10)
  for (const body of bodies) t.true(shapeOf(body).plain, body.slice(0, 200))
})
