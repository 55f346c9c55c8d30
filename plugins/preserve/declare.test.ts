import test from 'ava'
import { GatewayError, type Message, RequestDocument } from 'turnpike/plugin'
import { declare, type Find } from './declare.ts'
import { compile } from './expression.ts'
import { matchesIn, pinsIn } from './matches.ts'
import { options } from './options.ts'
import { rulesOf, withHeader } from './rules.ts'
import { hold, missing } from './verify.ts'

const messages: Message[] = [
  { role: 'user', content: 'Look at <keep>order 4711</keep>.' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'mcp__vault__read', input: { amount: 1 } }] },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'key AB-12' }] }],
  },
  { role: 'assistant', content: 'Done.' },
  { role: 'user', content: 'And now?' },
]

function requestOf(given: readonly Message[]): RequestDocument {
  return new RequestDocument(Buffer.from(JSON.stringify({ model: 'm', max_tokens: 1, messages: given })))
}

const find: Find = async (texts, pattern) => matchesIn(texts, compile(pattern), () => {})

async function declared(given: object, header?: string) {
  const parsed = options.parse(given)
  const rules = rulesOf(options.parse({}), parsed)
  return declare(requestOf(messages), header === undefined ? rules : withHeader(rules, header), find)
}

test('declare: a pin includes its tags', async (t) => {
  const [pin, ...others] = await declared({})
  t.like(pin, { path: ['messages', 0, 'content'], start: 8, end: 31 })
  t.deepEqual(others, [])
  t.deepEqual((await declared({ tools: ['none'] })).length, 1)
})

test('declare: a pin is found in any notation of its characters', async (t) => {
  const json = requestOf(messages).bytes.toString().replaceAll('<', '\\u003c').replaceAll('>', '\\u003e')
  const rules = rulesOf(options.parse({}), options.parse({}))
  const [pin] = await declare(new RequestDocument(Buffer.from(json)), rules, find)
  t.like(pin, { path: ['messages', 0, 'content'], start: 8, end: 31 })
})

test('declare: results of a tool, by its name or a prefix', async (t) => {
  for (const tools of ['mcp__vault__*', ['mcp__vault__read'], 'Read, mcp__vault__read']) {
    t.like((await declared({ tools }))[0], { path: ['messages', 2, 'content', 0, 'content'] })
  }
})

test('declare: messages by their numbers, and the last turns including replies and tool results', async (t) => {
  const numbersOf = async (given: object) =>
    (await declared(given)).filter(({ path }) => path.length === 2).map(({ path }) => path[1])
  t.deepEqual(await numbersOf({ ranges: '0-1,3-' }), [0, 1, 3, 4])
  t.deepEqual(await numbersOf({ ranges: ['2'] }), [2])
  t.deepEqual(await numbersOf({ last_turns: 1 }), [4])
  t.deepEqual(await numbersOf({ last_turns: 2 }), [0, 1, 2, 3, 4])
  t.deepEqual(await numbersOf({ last_turns: 9 }), [0, 1, 2, 3, 4])
})

test('declare: matches of a pattern, in texts of users and of tools', async (t) => {
  t.like((await declared({ pattern: '[A-Z]{2}-\\d+' }))[1], {
    path: ['messages', 2, 'content', 0, 'content', 0, 'text'],
    start: 4,
    end: 9,
  })
})

test('options: a pattern that is not in RE2’s syntax, or too large, is refused and explained', (t) => {
  for (const pattern of ['(?=a)', '(a)\\1', '(', 'x{1000}{1000}', '((a{100}){100})'])
    t.regex(
      options.safeParse({ patterns: [pattern] }).error?.issues[0]?.message ?? '',
      /^expected a regular expression/,
      pattern,
    )
})

test('declare: pins extend to their closing tags, and without one to the end', (t) => {
  t.deepEqual(pinsIn(['a<keep>b</keep>c<keep>d', '<keep>'.repeat(3), 'none']), [
    [
      [1, 15],
      [16, 23],
    ],
    [[0, 18]],
    [],
  ])
})

test('rules: a caller can add rules and remove none', (t) => {
  const operators = options.parse({ tools: ['Read'], last_turns: 2, patterns: ['x'] })
  const rules = withHeader(
    rulesOf(operators, options.parse({ pins: false, tools: 'Bash' })),
    'tools=Grep,LS&last_turns=1',
  )
  t.like(rules, { pins: true, tools: ['Read', 'Bash', 'Grep', 'LS'], lastTurns: 2 })
  t.deepEqual(rules.patterns, ['x'])
})

for (const header of ['tool=Read', 'last_turns=many', 'ranges=a-b', 'pattern=(', `tools=${'x'.repeat(5000)}`]) {
  test(`rules: an invalid header is refused: ${header.slice(0, 20)}`, async (t) => {
    await t.throwsAsync(declared({}, header), { instanceOf: GatewayError, message: /x-svc-preserve/ })
  })
}

test('missing: a moved text is not missing, and a message may get further blocks', async (t) => {
  const request = requestOf(messages)
  const held = hold(request, await declared({ ranges: '1-2', pattern: 'AB-\\d+' }))
  t.deepEqual(missing(request, held), [])
  const moved = requestOf([{ role: 'user', content: 'first' }, ...messages])
  t.deepEqual(missing(moved, held), [])
  const further = request.edited([
    { op: 'add', path: ['messages', 2, 'content', '-'], value: { type: 'text', text: 'x' } },
  ])
  t.deepEqual(missing(further, held), [])
})

test('missing: a changed character is found, and so is a number in another notation', async (t) => {
  const request = requestOf(messages)
  const held = hold(request, await declared({ ranges: '1', pattern: 'AB-\\d+' }))
  const path = ['messages', 2, 'content', 0, 'content', 0, 'text']
  t.is(missing(request.edited([{ op: 'replace', path, value: 'key AB-13' }]), held).length, 1)
  const amount = ['messages', 1, 'content', 0, 'input', 'amount']
  t.is(missing(request.edited([{ op: 'replace', path: amount, value: Buffer.from('1.0') }]), held).length, 1)
})
