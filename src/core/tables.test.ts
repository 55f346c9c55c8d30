import test from 'ava'
import { GatewayError, messageWithCause } from './errors.ts'
import { suggest } from './nearest.ts'
import { betasOf, betaTextOf, versionOf } from './request/version-headers.ts'
import { hideSecrets, holdsSecret } from './secrets.ts'
import { idleModules } from './telemetry/idle-modules.ts'
import { reasonOf } from './telemetry/refusal-reason.ts'
import { isAmong } from './telemetry/telemetry.ts'
import { tokensIn } from './telemetry/tokens-in.ts'

test('errors: status, type and advice about retries of each code', (t) => {
  const rows = `
    invalid_request 400 invalid_request -
    authentication_error 401 authentication_error final
    key_revoked 401 authentication_error final
    key_expired 401 authentication_error final
    payment_required 402 payment_required final
    permission_error 403 permission_error final
    not_found 404 not_found -
    method_not_allowed 405 invalid_request -
    request_timeout 408 invalid_request -
    request_too_large 413 invalid_request -
    unsupported_media_type 415 invalid_request -
    price_too_low 400 cost_limit_per_request final
    cost_limit_per_request 429 cost_limit_per_request final
    cost_limit_per_day 429 cost_limit_per_day final
    cost_limit_per_month 429 cost_limit_per_month final
    plan_calls_used 429 rate_limit_error final
    rate_limit_error 429 rate_limit_error -
    internal_error 500 internal_error -
    upstream_error 502 upstream_error final
    service_unavailable 503 service_unavailable 1
    unavailable_in_mode 503 permission_error final
    not_configured 503 internal_error final`
  for (const row of rows.trim().split('\n')) {
    const [code, status, type, retry] = row.trim().split(' ')
    const error = new GatewayError(code as 'not_found', 'm') // safe: the codes of the catalogue
    const advice = error.headers['retry-after'] ?? (error.headers['x-should-retry'] === 'false' ? 'final' : '-')
    t.deepEqual([String(error.status), error.toBody().error.type, advice], [status, type, retry], row)
  }
  const own = new GatewayError('rate_limit_error', 'm', {
    detail: 'd',
    status: 418,
    fields: { limit: 5 },
    headers: { a: 'b' },
  })
  t.deepEqual(own.toBody().error, { type: 'rate_limit_error', message: 'd: m', detail: 'd', limit: 5 })
  t.deepEqual([own.status, own.headers], [418, { a: 'b' }])
  const soon = new GatewayError('service_unavailable', 'm', { headers: { 'retry-after': '9' } })
  t.is(soon.headers['retry-after'], '9')
})

test('errors: a message with its cause, each once', (t) => {
  const coded = Object.assign(new Error(''), { code: 'ECONNRESET' })
  const several = new AggregateError([new Error('a'), new Error('a'), new Error('b')])
  const rows: [error: unknown, expected: string][] = [
    [new Error('x'), 'x'],
    [new Error('x', { cause: new Error('y') }), 'x (y)'],
    [new Error('x of y', { cause: new Error('y') }), 'x of y'],
    [new Error('x', { cause: coded }), 'x (ECONNRESET)'],
    [new Error('x', { cause: several }), 'x (a; b)'],
    ['text', 'text'],
  ]
  for (const [error, expected] of rows) t.is(messageWithCause(error), expected)
})

test('secrets: hidden in every form, and known ones of sixteen characters and more', (t) => {
  const hidden = [
    ...[
      'svc_live_12345678',
      'sk_test_12345678',
      `eyJ${'x'.repeat(8)}.abc.def`,
      `sk-${'x'.repeat(16)}`,
      `xai-${'x'.repeat(16)}`,
    ],
    ...[
      `gsk_${'x'.repeat(16)}`,
      `whsec_${'x'.repeat(16)}`,
      `hf_${'x'.repeat(16)}`,
      `r8_${'x'.repeat(16)}`,
      `AIza${'x'.repeat(20)}`,
    ],
    ...[`pk-${'x'.repeat(16)}`, `pplx-${'x'.repeat(16)}`],
  ]
  for (const secret of hidden) {
    t.is(hideSecrets(`a ${secret} b ${secret}`), 'a [hidden] b [hidden]', secret)
    t.true(holdsSecret(`a ${secret}`), secret)
  }
  for (const word of [
    'svc_live_1234567',
    `sk-${'x'.repeat(15)}`,
    `risk-${'x'.repeat(16)}`,
    `eyJ${'x'.repeat(7)}`,
    `AIza${'x'.repeat(19)}`,
  ])
    t.false(holdsSecret(`it is ${word}, a word`), word)
  const known = 'a "known" secret'
  t.is(hideSecrets(`${known} ${JSON.stringify(known)}`, [known, 'short']), '[hidden] "[hidden]"')
  t.is(hideSecrets('fifteen letters', ['fifteen letters']), 'fifteen letters')
  t.deepEqual(
    [holdsSecret(`x ${known}`, [known]), holdsSecret('a fifteen letters b', ['fifteen letters'])],
    [true, false],
  )
})

test('suggestions: the nearest name in any case, or all when none is near', (t) => {
  const names = ['exact-cache', 'cost-guard']
  t.is(suggest('exact-cahce', names), ' Did you mean `exact-cache`?')
  t.is(suggest('COST-GARD', names), ' Did you mean `cost-guard`?')
  t.is(suggest('zzzzzz', names), ' Valid: `exact-cache`, `cost-guard`.')
  t.is(suggest('ab', ['cd']), ' Did you mean `cd`?', 'two changes of a short word')
  t.is(suggest('abc', ['def']), ' Valid: `def`.', 'three are too many')
  t.is(suggest('x', []), '')
  t.is(suggest('x'.repeat(65), ['x'.repeat(65)]), ` Valid: \`${'x'.repeat(65)}\`.`, 'long words are not compared')
})

test('version headers: the specification’s version wins, betas of both are joined once', (t) => {
  t.is(versionOf({ 'provider-version': 'a', 'anthropic-version': 'b' }), 'a')
  t.is(versionOf({ 'anthropic-version': 'b' }), 'b')
  t.is(betaTextOf({ 'anthropic-beta': 'a, b' }), 'a, b')
  t.is(betaTextOf({ 'anthropic-beta': 'a, b', 'provider-beta': 'a, b' }), 'a, b')
  t.is(betaTextOf({ 'anthropic-beta': 'a, b', 'provider-beta': 'b,c' }), 'a,b,c')
  t.deepEqual(betasOf({ 'provider-beta': ['a', 'b, a,'] }), ['a', 'b'])
  t.deepEqual([betaTextOf({}), betasOf({})], [undefined, []])
})

test('telemetry: idle plugins, reasons of refusals, tokens and scopes', (t) => {
  const step = (module: string, reason: unknown, action = 'idle') => ({ module, action, details: { reason } }) as never // safe: what is read
  t.is(idleModules([step('a', 'one'), step('b', 'x', 'ran'), step('c', 'say "é"\\')]), 'a="one", c="say ????"')
  t.is(idleModules([step('a', 'x'.repeat(121))]), `a="${'x'.repeat(120)}"`)
  t.is(idleModules([]), '')
  const hide = (text: string) => text.replace('secret', '…')
  t.is(reasonOf(new GatewayError('not_found', 'a secret'), hide), 'not_found: a …')
  t.is(reasonOf(new GatewayError('not_found', 'm', { detail: 'd' }), hide), 'd: m')
  t.is(reasonOf(new GatewayError('not_found', 'x'.repeat(400)), hide).length, 300)
  t.regex(reasonOf(new Error('secret'), hide), /^internal_error: /)
  t.is(tokensIn({ input: 1, output: 2, cacheRead: 4, cacheWrite: 8 }), 13)
  t.deepEqual(
    [
      isAmong('a', 'a'),
      isAmong('a', 'ab'),
      isAmong('a', ['b', 'a']),
      isAmong('a', []),
      isAmong('a', { everybody: true }),
    ],
    [true, false, true, false, true],
  )
})
