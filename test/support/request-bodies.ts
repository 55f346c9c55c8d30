/** Arbitraries of JSON texts and of Messages requests, for the tests of the byte-level JSON core. */
import fc from 'fast-check'

const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n', '  ')
const piece = fc.constantFrom(
  ...['a', 'role', ' ', '{', '}', '[', ']', ',', ':', '1', "'", '/', 'é', '漢', '😀', '\u007f', '\u2028'],
  ...['\\"', '\\\\', '\\/', '\\n', '\\u0041', '\\u00e9', '\\ud83d\\ude00', '\\ud800', '\\\\\\"'],
)
const string = fc.array(piece, { maxLength: 8 }).map((pieces) => `"${pieces.join('')}"`)
const key = fc.oneof(string, fc.constantFrom('"10"', '"2"', '"a"', '"\\u0061b"', '"__proto__"', '""', '"x/y~z"'))
const scalar = fc.oneof(
  string,
  fc.constantFrom(
    '0',
    '-0',
    '1.0',
    '9007199254740993',
    '1e5',
    '-1.5E-3',
    '10E+2',
    '0.10',
    '123456789012345678901234567890',
  ),
  fc.constantFrom('true', 'false', 'null'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
)

const spaced = (text: fc.Arbitrary<string>) => fc.tuple(space, text, space).map((parts) => parts.join(''))
const list = (items: fc.Arbitrary<string[]>) => fc.tuple(items, space).map(([texts, gap]) => texts.join(',') || gap)

const { value, object } = fc.letrec<Record<'value' | 'array' | 'object' | 'member', string>>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('array'), tie('object')),
  array: list(fc.array(spaced(tie('value')), { maxLength: 5 })).map((inside) => `[${inside}]`),
  member: fc.tuple(spaced(key), spaced(tie('value'))).map(([name, text]) => `${name}:${text}`),
  object: list(
    fc.uniqueArray(tie('member'), { maxLength: 5, selector: (member) => Object.keys(JSON.parse(`{${member}}`))[0] }),
  ).map((inside) => `{${inside}}`),
}))

/** JSON texts of any kind: odd white space, escapes, numbers that JSON.parse changes; no key twice in an object. */
export const jsonTexts: fc.Arbitrary<string> = spaced(value)

/** The same, but always an object. */
export const jsonObjects: fc.Arbitrary<string> = spaced(object)

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const mark = fc.constantFrom(undefined, undefined, null, { type: 'ephemeral' })
const words = fc.string({ unit: 'grapheme', maxLength: 12 })
const inner = fc.dictionary(words, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })

/** Generates any order of keys: the fields of `model` that are not undefined, as an object. */
function shuffled(model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> {
  const names = Object.keys(model)
  return fc
    .tuple(fc.record(model), fc.shuffledSubarray(names, { minLength: names.length }))
    .map(([fields, order]) => Object.fromEntries(order.map((name) => [name, fields[name]])))
}

const { blocks } = fc.letrec<{ blocks: Record<string, unknown>[]; block: Record<string, unknown> }>((tie) => ({
  block: fc.oneof(
    { depthSize: 'small' },
    shuffled({ type: fc.constant('text'), text: words, cache_control: mark }),
    shuffled({ type: fc.constant('tool_use'), id: words, name: words, input: inner, cache_control: mark }),
    shuffled({
      type: fc.constant('image'),
      source: shuffled({ type: fc.constantFrom('base64', 'url'), data: words }),
      cache_control: mark,
    }),
    shuffled({ type: fc.constantFrom('thinking', 'novel'), text: fc.jsonValue(), content: fc.jsonValue() }),
    shuffled({
      type: fc.constant('tool_result'),
      tool_use_id: words,
      content: fc.oneof(words, fc.constant(undefined), tie('blocks')),
      is_error: optional(fc.boolean()),
    }),
  ),
  blocks: fc.array(tie('block'), { maxLength: 3 }),
}))

/** Messages requests that the schema accepts, with their keys in any order. */
export const requests: fc.Arbitrary<Record<string, unknown>> = shuffled({
  model: words.map((text) => `m${text}`),
  max_tokens: fc.integer({ min: 1 }),
  messages: fc.array(
    shuffled({ role: fc.constantFrom('user', 'assistant', 'system'), content: fc.oneof(words, blocks) }),
    { maxLength: 4 },
  ),
  system: fc.oneof(fc.constantFrom(undefined, null), words, blocks),
  tools: optional(fc.array(shuffled({ name: optional(words), description: optional(words), input_schema: inner }))),
  stream: optional(fc.boolean()),
  temperature: optional(fc.double({ min: 0, max: 2, noNaN: true })),
  metadata: optional(inner),
  novel: optional(fc.jsonValue()),
})

const junk = fc.constantFrom<unknown>(
  null,
  5,
  'text',
  '',
  [],
  {},
  true,
  [5],
  [{ type: 'text' }],
  { type: 'text' },
  undefined,
)

/** The same, with one value at any depth replaced by another or left out: some are accepted, most are not. */
export const brokenRequests: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(requests, fc.nat(), junk)
  .map(([request, choice, value]) => {
    const copy = structuredClone(request)
    const slots = slotsIn(copy)
    const slot = slots[choice % slots.length]
    if (slot !== undefined) slot.holder[slot.name] = value
    return copy
  })

interface Slot {
  readonly holder: Record<string, unknown>
  readonly name: string
}

function slotsIn(value: unknown): Slot[] {
  if (typeof value !== 'object' || value === null) return []
  // An array is entered by its indexes as an object by its names.
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...slotsIn(holder[name])])
}
