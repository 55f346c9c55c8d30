import test from 'ava'
import { runPlugin } from '../../src/plugin/test.ts'
import redact from './index.ts'

const MAIL = 'anna@acme.io'
const TOKEN = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
const PLACEHOLDER = /REDACTED_[A-Z_]+_[0-9A-Z]{12}/

for (const dialect of ['messages', 'chat'] as const)
  test(`redact: a value leaves neither in texts nor in unknown fields: ${dialect}`, async (t) => {
    const run = await runPlugin(redact, {
      dialect,
      body: {
        messages: [{ role: 'user', content: `Write to ${MAIL}` }],
        metadata: { user_id: MAIL },
        other: [{ deep: TOKEN }],
      },
    })
    const sent = JSON.stringify(run.request)
    t.false(sent.includes(MAIL), sent)
    t.false(sent.includes(TOKEN), sent)
    t.regex(sent, PLACEHOLDER)
    t.is(run.headers['x-svc-redact'], 'mode=redact; email=1; token=1')
    t.is(run.action, 'redacted')
    t.false(JSON.stringify(run.details).includes(MAIL))
  })

for (const dialect of ['messages', 'chat'] as const)
  for (const stream of [false, true])
    test(`redact: texts and arguments of a reply are restored: ${dialect}, stream ${stream}`, async (t) => {
      const body = { stream, messages: [{ role: 'user', content: `Write to ${MAIL}` }] }
      const first = await runPlugin(redact, { dialect, body })
      const placeholder = PLACEHOLDER.exec(JSON.stringify(first.request))?.[0] ?? ''
      const answer = [
        { type: 'text', text: `Sent to ${placeholder}, not REDACTED_EMAIL_000000000000.` },
        { type: 'tool_use', id: 'toolu_1', name: 'send', input: { to: [placeholder] } },
      ]
      const { reply } = await runPlugin(redact, { dialect, body, answer })
      t.is(reply?.text, `Sent to ${MAIL}, not REDACTED_EMAIL_000000000000.`)
      t.deepEqual(
        reply?.toolInputs.map((json) => JSON.parse(json)),
        [{ to: [MAIL] }],
      )
      t.is(reply?.outcome, 'complete')
    })

test('redact: a value that one word revealed is replaced wherever it is', async (t) => {
  const secret = 'Zx81kQpL0vN3'
  const run = await runPlugin(redact, {
    body: {
      messages: [
        { role: 'user', content: `password = "${secret}"` },
        { role: 'assistant', content: `I will use ${secret} then.` },
        { role: 'user', content: 'Yes' },
      ],
    },
  })
  t.false(JSON.stringify(run.request).includes(secret))
})

test('redact: names of members and numbers are replaced', async (t) => {
  const input = { [MAIL]: 1, card: 4111111111111111 }
  const run = await runPlugin(redact, {
    body: {
      messages: [
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'pay', input }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] },
      ],
    },
  })
  const sent = JSON.stringify(run.request)
  t.false(sent.includes(MAIL) || sent.includes('4111111111111111'), sent)
})

test('redact: observe changes nothing and reports', async (t) => {
  const content = `Write to ${MAIL}`
  const run = await runPlugin(redact, { options: { mode: 'observe' }, body: { messages: [{ role: 'user', content }] } })
  t.true(JSON.stringify(run.request).includes(MAIL))
  t.is(run.headers['x-svc-redact'], 'mode=observe; email=1')
})

test('redact: block refuses, without the value', async (t) => {
  const body = { messages: [{ role: 'user', content: `Write to ${MAIL}` }] }
  const error = await t.throwsAsync(runPlugin(redact, { options: { mode: 'block' }, body }), { message: /email=1/ })
  t.false(error.message.includes(MAIL))
})

test('redact: what cannot be read is refused, and passes where the operator allows it', async (t) => {
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
  const body = { messages: [{ role: 'user', content: [{ type: 'image', source }] }] }
  await t.throwsAsync(runPlugin(redact, { body }), { message: /1 × picture/ })
  const run = await runPlugin(redact, { options: { unread: 'pass' }, body })
  t.is(run.headers['x-svc-redact'], 'mode=redact; unread-picture=1')
})

test('redact: text that begins like an address of data is read, and a signature outside of the conversation', async (t) => {
  for (const content of [`Data: write to ${MAIL}`, `data: {"mail":"${MAIL}"}`, `data:${MAIL}, twice`]) {
    const run = await runPlugin(redact, { body: { messages: [{ role: 'user', content }] } })
    t.false(JSON.stringify(run.request).includes(MAIL), content)
  }
  const content = `data:image/png;base64,AAAA is by ${MAIL}`
  for (const body of [
    { messages: [{ role: 'user', content }] },
    { messages: [{ role: 'user', content: [{ type: 'text', text: content }] }] },
    { messages: [{ role: 'user', content: 'hi' }], metadata: { signature: MAIL } },
  ]) {
    const run = await runPlugin(redact, { options: { unread: 'pass' }, body })
    t.false(JSON.stringify(run.request).includes(MAIL), JSON.stringify(body))
  }
  const url = { url: 'data:image/png;charset=x;base64,AAAA' }
  const chat = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: url }] }] }
  await t.throwsAsync(runPlugin(redact, { dialect: 'chat', body: chat }), { message: /1 × picture/ })
})

test('redact: signed thinking passes unchanged', async (t) => {
  const thinking = { type: 'thinking', thinking: `He wants ${MAIL}`, signature: 'c2ln' }
  const run = await runPlugin(redact, {
    body: {
      messages: [
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: [thinking] },
        { role: 'user', content: 'on' },
      ],
    },
  })
  t.true(JSON.stringify(run.request).includes(thinking.thinking))
})

test('redact: words of the operator are found as whole words', async (t) => {
  const run = await runPlugin(redact, {
    options: { words: ['Project Falcon'] },
    body: { messages: [{ role: 'user', content: 'Project Falcon and Project Falcons' }] },
  })
  const sent = JSON.stringify(run.request)
  t.regex(sent, /REDACTED_CUSTOM_[0-9A-Z]{12} and Project Falcons/)
})

test('redact: expressions of the operator are found, and a request that is too long for them is refused', async (t) => {
  const options = { patterns: ['KD-[0-9]{6}'] }
  const content = 'Customer KD-123456 and KD-12'
  const run = await runPlugin(redact, { options, body: { messages: [{ role: 'user', content }] } })
  t.regex(JSON.stringify(run.request), /Customer REDACTED_CUSTOM_[0-9A-Z]{12} and KD-12/)
  const long = { messages: [{ role: 'user', content: `KD-123456 ${'x'.repeat(4_000_000)}` }] }
  await t.throwsAsync(runPlugin(redact, { options, body: long }), { message: /too long/ })
  for (const pattern of ['(?=a)', 'a*', '(a'])
    t.false(redact.options.safeParse({ patterns: [pattern] }).success, pattern)
})

test('redact: an address of a picture is refused, that of a server is none', async (t) => {
  const mcp_servers = [{ type: 'url', name: 'docs', url: 'https://mcp.acme.io' }]
  t.true((await runPlugin(redact, { body: { mcp_servers } })).wentOn)
  const content = [{ type: 'image', source: { type: 'url', url: 'https://acme.io/a.png' } }]
  await t.throwsAsync(runPlugin(redact, { body: { messages: [{ role: 'user', content }] } }), {
    message: /1 × address/,
  })
  const chat = [{ type: 'image_url', image_url: { url: 'https://acme.io/a.png' } }]
  await t.throwsAsync(runPlugin(redact, { dialect: 'chat', body: { messages: [{ role: 'user', content: chat }] } }), {
    message: /1 × address/,
  })
})
