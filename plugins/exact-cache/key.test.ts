import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { RequestDocument } from 'turnpike/plugin'
import type { DigestReach, SharingScope } from 'turnpike/plugin/cache'
import { ClientRequest } from '../../src/core/request/client-request.ts'
import { Exchange, type Target } from '../../src/core/request/exchange.ts'
import { cacheKey } from './key.ts'

interface KeyInput {
  body?: string
  headers?: Record<string, string>
  query?: string
  target?: Target
  caller?: Exchange['caller']
  scope?: SharingScope
  reach?: DigestReach
  pipeline?: string
}

const TARGET: Target = { provider: 'anthropic', model: 'claude-sonnet-4-5' }
const CALLER: Exchange['caller'] = { kind: 'local', scope: 'local:a' }
const BODY = '{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"hi there"}]}'

function keyOf({
  body = BODY,
  headers = {},
  query = '',
  target = TARGET,
  caller = CALLER,
  scope = 'key',
  reach = 'everywhere',
  pipeline = 'exact-cache',
}: KeyInput): string {
  const client = new ClientRequest(new RequestDocument(Buffer.from(body)))
  return cacheKey(
    new Exchange({
      id: 'req_1',
      route: 'messages',
      caller,
      credential: { header: 'authorization', secret: 'x' },
      headers,
      query,
      client,
      request: undefined,
      targets: [target],
      signal: new AbortController().signal,
      reply: undefined,
      pipeline,
      trace: [],
      edits: [],
      calls: [],
      supersededReplies: [],
      stored: {},
    }),
    { scope, reach },
  )
}

/** Returns a body with these members over those of `BODY`; values are raw JSON. */
function bodyWith(members: Record<string, string>): string {
  const raw = new Map(Object.entries(JSON.parse(BODY)).map(([name, value]) => [name, JSON.stringify(value)]))
  for (const [name, value] of Object.entries(members)) raw.set(name, value)
  return printed([...raw])
}

function printed(members: readonly (readonly [name: string, raw: string])[]): string {
  return `{${members.map(([name, raw]) => `${JSON.stringify(name)}:${raw}`).join(',')}}`
}

function holds<T>(t: ExecutionContext, property: fc.IRawProperty<T>, numRuns = 500): void {
  t.notThrows(() => fc.assert(property, { numRuns }))
}

const FIELDS: Record<string, [one: string, other: string]> = {
  max_tokens: ['100', '101'],
  messages: ['[{"role":"user","content":"a"}]', '[{"role":"user","content":"b"}]'],
  system: ['"a"', '"b"'],
  tools: ['[{"name":"a","input_schema":{}}]', '[{"name":"b","input_schema":{}}]'],
  tool_choice: ['{"type":"auto"}', '{"type":"any"}'],
  temperature: ['0.1', '0.2'],
  top_p: ['0.1', '0.2'],
  top_k: ['1', '2'],
  stop_sequences: ['["a"]', '["b"]'],
  thinking: ['{"type":"enabled","budget_tokens":1024}', '{"type":"enabled","budget_tokens":1025}'],
  output_config: ['{"effort":"low"}', '{"effort":"high"}'],
  context_management: ['{"edits":[]}', '{"edits":[{}]}'],
  service_tier: ['"auto"', '"standard_only"'],
  container: ['"a"', '"b"'],
  mcp_servers: ['[]', '[{}]'],
  of_tomorrow: ['{"deep":[1,{"er":1}]}', '{"deep":[1,{"er":2}]}'],
  ['__proto__']: ['1', '2'],
  '': ['1', '2'],
}

for (const [name, [one, other]] of Object.entries(FIELDS)) {
  test(`key: field ${JSON.stringify(name)} changes it by its value and by its presence`, (t) => {
    const rest = JSON.parse(BODY)
    delete rest[name]
    const members = Object.entries(rest).map(([key, value]) => [key, JSON.stringify(value)] as const)
    const keys = [members, [...members, [name, one] as const], [...members, [name, other] as const]]
    t.is(new Set(keys.map((list) => keyOf({ body: printed(list) }))).size, 3)
  })
}

const DIFFERENT_VALUES: [claim: string, one: string, other: string][] = [
  ['white space between members', '{"a":1}', '{"a": 1}'],
  ['white space inside a string', '"a b"', '"a  b"'],
  ['the order of nested keys', '{"a":1,"b":2}', '{"b":2,"a":1}'],
  ['the notation of a number', '1', '1.0'],
  ['digits beyond a double', '9007199254740993', '9007199254740992'],
  ['a number and its string', '1', '"1"'],
  ['an escape and its character', '"é"', '"\\u00e9"'],
  ['composed and decomposed characters', '"\u00e9"', '"e\u0301"'],
  ['upper and lower case', '"Yes"', '"yes"'],
  ['null and false', 'null', 'false'],
]

for (const [claim, one, other] of DIFFERENT_VALUES) {
  test(`key: distinguishes ${claim}`, (t) => {
    t.not(keyOf({ body: bodyWith({ system: one }) }), keyOf({ body: bodyWith({ system: other }) }))
  })
}

test('key: distinguishes null and absence', (t) => {
  t.not(keyOf({ body: bodyWith({ temperature: 'null' }) }), keyOf({}))
})

test('key: distinguishes fields whose names are different lone surrogates', (t) => {
  t.not(keyOf({ body: bodyWith({ '\ud800': '1' }) }), keyOf({ body: bodyWith({ '\ud801': '1' }) }))
})

test('key: stream and metadata do not change it', (t) => {
  const members = { stream: 'true', metadata: '{"user_id":"u1"}' }
  t.is(keyOf({ body: bodyWith(members) }), keyOf({}))
  t.is(keyOf({ body: bodyWith({ stream: 'false', metadata: '{"user_id":"u2"}' }) }), keyOf({}))
})

test('key: a nested stream or metadata changes it', (t) => {
  const keys = ['{"stream":true}', '{"stream":false}', '{"metadata":1}'].map((x) => keyOf({ body: bodyWith({ x }) }))
  t.is(new Set(keys).size, 3)
})

test('key: white space around top-level members does not change it', (t) => {
  const spaced = BODY.replace('{"model"', '{ "model"').replace(',"max_tokens":', ' ,\n"max_tokens" : ')
  t.is(keyOf({ body: ` ${spaced}\n` }), keyOf({}))
})

test('key: provider, model as the provider names it, query and route scope change it', (t) => {
  const keys = [
    {},
    { target: { ...TARGET, provider: 'demo' } },
    { target: { ...TARGET, model: 'claude-opus-4-8' } },
    { query: '?beta=true' },
    { caller: { ...CALLER, scope: 'local:b' } },
  ].map(keyOf)
  t.is(new Set(keys).size, keys.length)
})

test('key: plugins between the cache and the provider change it, those before the cache and its own options do not', (t) => {
  const keys = (...pipelines: string[]) => new Set(pipelines.map((pipeline) => keyOf({ pipeline }))).size
  t.is(keys('exact-cache', 'exact-cache?ttl=1s', 'shout,exact-cache', 'shout?by=1,exact-cache?ttl=1s'), 1)
  t.is(keys('exact-cache', 'exact-cache,shout', 'exact-cache,shout?by=1', 'exact-cache,shout,whisper'), 4)
})

test('key: a model written with and without its provider has one key', (t) => {
  t.is(keyOf({ body: bodyWith({ model: '"anthropic/claude-sonnet-4-5"' }) }), keyOf({}))
})

for (const name of ['version', 'beta']) {
  test(`key: the ${name} header changes it`, (t) => {
    const keys = ['a', 'b'].map((value) => keyOf({ headers: { [`anthropic-${name}`]: value } }))
    t.is(new Set([...keys, keyOf({})]).size, 3)
  })

  test(`key: the two names of the ${name} header have one key`, (t) => {
    t.is(keyOf({ headers: { [`provider-${name}`]: 'a' } }), keyOf({ headers: { [`anthropic-${name}`]: 'a' } }))
  })
}

test('key: an explicit provider-version is the version, in either order', (t) => {
  const explicit = keyOf({ headers: { 'provider-version': 'b' } })
  t.is(keyOf({ headers: { 'anthropic-version': 'a', 'provider-version': 'b' } }), explicit)
  t.is(keyOf({ headers: { 'provider-version': 'b', 'anthropic-version': 'a' } }), explicit)
})

test('key: betas of both headers count', (t) => {
  const joined = keyOf({ headers: { 'anthropic-beta': 'a', 'provider-beta': 'b' } })
  t.not(joined, keyOf({ headers: { 'anthropic-beta': 'a' } }))
  t.is(joined, keyOf({ headers: { 'anthropic-beta': 'a,b' } }))
})

test('key: version and beta are not confused', (t) => {
  t.not(keyOf({ headers: { 'anthropic-version': 'a' } }), keyOf({ headers: { 'anthropic-beta': 'a' } }))
})

test('key: options of other plugins by header change it', (t) => {
  const keys = ['a', 'b'].map((value) => keyOf({ headers: { 'x-svc-patterns': value } }))
  t.is(new Set([...keys, keyOf({})]).size, 3)
})

test('key: headers of the connection do not change it', (t) => {
  t.is(keyOf({ headers: { host: 'x', 'user-agent': 'y', authorization: 'Bearer z', 'x-svc-pipe': 'w' } }), keyOf({}))
})

test('key: scope `key` separates the keys of one user, `user` joins them', (t) => {
  const keys = (scope: SharingScope) =>
    ['a', 'b'].map((key) => keyOf({ scope, caller: { kind: 'key', scope: key, keyId: key, userId: 'u' } }))
  t.is(new Set(keys('key')).size, 2)
  t.is(new Set(keys('user')).size, 1)
})

test('key: scope `user` separates callers without a user', (t) => {
  const keys = ['a', 'b'].map((scope) => keyOf({ scope: 'user', caller: { kind: 'local', scope } }))
  t.is(new Set(keys).size, 2)
})

test('key: scope `shared` joins all callers', (t) => {
  const keys = ['a', 'b'].map((scope) => keyOf({ scope: 'shared', caller: { kind: 'local', scope } }))
  t.is(new Set(keys).size, 1)
})

test('key: no caller name collides with another scope', (t) => {
  const keys = [
    keyOf({ scope: 'shared' }),
    keyOf({ caller: { kind: 'key', scope: 'shared' } }),
    keyOf({ caller: { kind: 'key', scope: 'user:u' } }),
    keyOf({ scope: 'user', caller: { kind: 'key', scope: 'a', userId: 'u' } }),
    keyOf({ caller: { kind: 'key', scope: 'u' } }),
  ]
  t.is(new Set(keys).size, keys.length)
})

/** Generates text in which lengths, separators and names are easily confused. */
const confusing = fc
  .array(fc.constantFrom('', '0', '1', '2', '12', ':', '1:', '0:', 'a', 'anthropic-a', '"', '\ud800', '\ud801', 'é'), {
    maxLength: 3,
  })
  .map((parts) => parts.join(''))
const rawValue = fc.oneof(
  confusing.map((text) => JSON.stringify(text)),
  fc.constantFrom('0', '1', '12', '1.0', '[]', '[1]', '{}', '{"a":1}', '{"a": 1}', 'null'),
  fc.json({ maxDepth: 2 }),
)
const members = fc
  .uniqueArray(fc.tuple(confusing, rawValue), { selector: ([name]) => name, maxLength: 4 })
  .map((list) => list.filter(([name]) => !['stream', 'metadata', 'model'].includes(name)))
const inputs = fc.record({
  scope: confusing,
  provider: confusing,
  model: confusing,
  query: confusing,
  headers: fc.dictionary(fc.constantFrom('anthropic-a', 'anthropic-a1', 'anthropic-'), confusing),
  members,
})
type Parts = typeof inputs extends fc.Arbitrary<infer T> ? T : never

function keyOfParts(
  { scope, provider, model, query, headers, members: list }: Parts,
  { reach, added = [] }: { reach?: DigestReach; added?: readonly (readonly [string, string])[] } = {},
): string {
  const target = { provider, model }
  const input = {
    body: printed([...list, ...added]),
    headers,
    query,
    target,
    caller: { kind: 'local', scope } as const,
  }
  return keyOf({ ...input, ...(reach && { reach }) })
}

/** Returns the parts in a canonical order and notation, in which equal requests are equal text. */
function identityOf({ headers, members: list, ...rest }: Parts): string {
  const { scope, provider, model, query } = rest
  const sorted = <T>(entries: (readonly [string, T])[]) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([scope, provider, model, query, sorted(Object.entries(headers)), sorted(list)])
}

test('key: two requests have one key exactly when all their parts are equal', (t) => {
  holds(
    t,
    fc.property(inputs, inputs, (one, other) => {
      t.is(keyOfParts(one) === keyOfParts(other), identityOf(one) === identityOf(other))
    }),
    3000,
  )
})

for (const reach of ['everywhere', 'process'] as const) {
  test(`key: two large requests have one key exactly when all their parts are equal, with reach ${reach}`, (t) => {
    const large = 'x'.repeat(30_000)
    const asLarge = (parts: Parts, last = '') => keyOfParts(parts, { reach, added: [['large', `"${large}${last}"`]] })
    holds(
      t,
      fc.property(inputs, inputs, fc.nat(), (one, other, choice) => {
        const names = Object.keys(one) as (keyof Parts)[] // safe: a record's own keys
        const name = names[choice % names.length] ?? 'scope'
        const mixed = { ...one, [name]: other[name] }
        for (const second of [other, mixed])
          t.is(asLarge(one) === asLarge(second), identityOf(one) === identityOf(second))
        t.not(asLarge(one, '.'), asLarge(one, ','))
      }),
      300,
    )
  })
}

test('key: a change of one part changes it', (t) => {
  holds(
    t,
    fc.property(inputs, inputs, fc.nat(), (one, other, choice) => {
      const names = Object.keys(one) as (keyof Parts)[] // safe: a record's own keys
      const name = names[choice % names.length] ?? 'scope'
      const mixed = { ...one, [name]: other[name] }
      t.is(keyOfParts(one) === keyOfParts(mixed), identityOf(one) === identityOf(mixed))
    }),
    2000,
  )
})

test('key: a boundary between two parts cannot be moved', (t) => {
  holds(
    t,
    fc.property(confusing, confusing, fc.nat(6), (left, right, by) => {
      const joined = left + right
      const moved = [joined.slice(0, by), joined.slice(by)] as const
      const isSame = moved[0] === left
      const header = (name: string, value: string) => keyOf({ headers: { [`anthropic-${name}`]: value } })
      const field = (name: string, value: string) => keyOf({ body: printed([[name, JSON.stringify(value)]]) })
      const target = (provider: string, model: string) => keyOf({ target: { provider, model } })
      for (const key of [header, field, target]) t.is(key(left, right) === key(...moved), isSame)
    }),
    1000,
  )
})

test('key: the order of top-level fields does not change it', (t) => {
  const shuffled = members.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
  )
  holds(
    t,
    fc.property(shuffled, ([list, other]) => {
      t.is(keyOf({ body: printed(list) }), keyOf({ body: printed(other) }))
    }),
  )
})
