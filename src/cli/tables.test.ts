import test from 'ava'
import { CommanderError } from 'commander'
import { ConfigError } from '../config/config-error.ts'
import { configSchema } from '../config/schema.ts'
import { settingsInForce } from '../config/settings-in-force.ts'
import { GatewayError } from '../core/errors.ts'
import { PriceFileError } from '../spend/prices/overrides.ts'
import { checkConfiguration } from './doctor/configuration.ts'
import { CommandError, exitCodeOf } from './exit-codes.ts'
import { compare, render, toJson } from './replay/report.ts'

/** A configuration as it is loaded, with these options. */
function loaded(options: object) {
  return { config: configSchema.parse(options), file: undefined, sourceOf: () => 'environment' } as never // safe: no other members are read
}

test('doctor: what is wrong with a configuration, and how grave it is', (t) => {
  const cloud = { mode: 'cloud', database_url: 'postgres://u@db/x', sessions: { jwks_url: 'https://id.example/jwks' } }
  const at = (base_url: string, server = {}) => ({
    server: { port: 3099, ...server },
    providers: { anthropic: { base_url } },
  })
  const rows: [options: object, expected: RegExp][] = [
    [{}, /^ok[^;]*$/],
    [at('http://localhost:3099'), /fault .*is this gateway itself/],
    [at('http://127.0.0.1:3099/v1'), /fault .*is this gateway itself/],
    [at('http://0.0.0.0:3099'), /fault .*is this gateway itself/],
    [at('https://gate.example', { public_url: 'https://gate.example' }), /fault .*is this gateway itself/],
    [at('http://localhost:3098'), /^ok[^;]*$/],
    [at('http://other.example:9'), /^ok[^;]*$/],
    [{ server: { host: '0.0.0.0' } }, /fault local mode listens on 0\.0\.0\.0/],
    [{ server: { host: '0.0.0.0', local_open: true } }, /advice local mode listens/],
    [{ ...cloud, costs: { per_day: 1 } }, /advice session tokens that.*;ok caps/],
    [{ ...cloud, sessions: { ...cloud.sessions, audience: 'a' } }, /ok users are verified;advice nothing bounds/],
    [{ ...cloud, sessions: { ...cloud.sessions, azp: ['a'] } }, /ok users are verified/],
    [{ ...cloud, sessions: {} }, /fault cloud mode cannot start/],
    [{ costs: { per_request: 0 } }, /ok caps are enforced/],
    [{ billing: { secret_key: 'sk_test_1' } }, /fault Stripe’s webhooks.*;fault Stripe cannot redirect/],
    [
      {
        billing: { secret_key: 'sk_test_1', webhook_secrets: ['whsec_1'] },
        server: { public_url: 'https://a.example' },
      },
      /ok billing is configured/,
    ],
  ]
  for (const [options, expected] of rows) {
    const findings = checkConfiguration(loaded(options)) as unknown as Record<string, string>[] // safe: rows of words
    const words = findings.map((finding) => Object.values(finding).join(' ').replaceAll(';', ',')).join(';')
    t.regex(words, expected, JSON.stringify(options))
  }
})

test('settings: secrets are hidden, also those of plugins at any depth, and each has its source', (t) => {
  const plugins = { options: { a: { api_key: 'k', list: [{ password: 'p', n: 1 }], ttl: '5m' } } }
  const { options } = settingsInForce(
    loaded({ billing: { secret_key: 'sk_live_1' }, server: { port: 5 }, plugins: { a: plugins.options.a } }),
  )
  const found = (name: string) => options.find((option) => option.name === name)
  t.like(found('billing.secret_key'), { value: '[hidden]', source: 'environment' })
  t.is(found('mpp.secret')?.value, undefined, 'an unset secret is not hidden')
  t.like(found('server.port'), { value: 5, source: 'environment' })
  t.regex(found('server.port')?.description ?? '', /port/)
  t.is(found('plugins.a.api_key')?.value, '[hidden]')
  t.deepEqual(found('plugins.a.list')?.value, [{ password: '[hidden]', n: 1 }])
  t.is(found('plugins.a.ttl')?.value, '5m')
  t.notRegex(JSON.stringify(options), /sk_live_1/)
})

test('exit codes: by the kind of an error', (t) => {
  const rows: [error: unknown, code: number][] = [
    [new CommandError(69, 'x'), 69],
    [new CommanderError(0, 'help', 'x'), 0],
    [new CommanderError(1, 'usage', 'x'), 2],
    [new ConfigError('x'), 78],
    [new PriceFileError('x'), 78],
    [new GatewayError('not_found', 'x'), 66],
    [new GatewayError('invalid_request', 'x'), 2],
    [new GatewayError('upstream_error', 'x'), 1],
    [new Error('x'), 1],
  ]
  for (const [error, code] of rows) t.is(Number(exitCodeOf(error)), code, String(error))
})

const TOKENS = { input: 50, output: 7, cacheRead: 30, cacheWrite: 20 }
const REQUEST = {
  ...{
    requestId: 'req_1',
    startedAtMs: 0,
    route: '/v1/messages',
    isStream: true,
    pipeline: 'a',
    status: 200,
    cache: 'none',
  },
  ...{
    modelServed: null,
    modelAsked: 'asked',
    tokens: TOKENS as typeof TOKENS | null,
    costNanoUsd: 1_500_000,
    trace: { steps: [] },
  },
  ...{ gatewayMs: 1, providerMs: 2, totalMs: 3 },
}
const answer = (text: string, comparable = text) => ({ text, comparable })

/** Compares a past request with its replay, and prints it. */
function replayed(
  before: ReturnType<typeof answer> | undefined,
  now: ReturnType<typeof answer> | undefined,
  row: object = {},
) {
  const later = {
    status: 201,
    pipeline: 'b',
    row: { ...REQUEST, modelServed: 'served', tokens: null, cache: 'hit', ...row },
  }
  // Safe: all that is read of the two.
  const comparison = compare({ request: REQUEST, body: 'é' } as never, later as never, { before, now } as never)
  return { comparison, text: render(comparison, 80, (_, text) => text) }
}

test('replay: replies are equal, different, or cannot be compared', (t) => {
  const same = replayed(answer('a', 'x'), answer('b', 'x'))
  t.is(same.comparison.verdict, 'same')
  t.regex(same.text, /The replies are equal/)
  for (const { comparison, text } of [replayed(undefined, answer('a')), replayed(answer('a'), undefined)]) {
    t.is(comparison.verdict, 'unknown')
    t.regex(text, /cannot be compared/)
  }
  t.regex(replayed(answer('a', 'x'), answer('a', 'y')).text, /differ, but not in their text/)
  const long = 'The first twenty words.'
  const { text } = replayed(answer(`${long} End`), answer(`${long} Other`))
  t.regex(text, /differ from character 25 on:\nbefore {2}…enty words\. End\nnow {5}…enty words\. Other\n/)
  t.regex(replayed(answer('a'), answer('b')).text, /character 1 on:\nbefore {2}a\nnow {5}b\n/)
})

test('replay: the figures of both requests, and both pipelines where they differ', (t) => {
  const { comparison, text } = replayed(answer('a'), answer('a'))
  for (const line of [
    /^req_1 of \d\d:\d\d:\d\d: \/v1\/messages, a stream, 2 bytes$/m,
    /^status +200 +201$/m,
    /^model +asked +served$/m,
    /^cache +– +hit$/m,
    /^tokens +100 in, 7 out +–$/m,
    /^input +50% new 30% read 20% written +–$/m,
    /^billed +\$0\.001500 +\$0\.001500$/m,
    /^gateway +1\.0ms +1\.0ms$/m,
    /^provider +2\.0ms +2\.0ms$/m,
    /^took +3\.0ms +3\.0ms$/m,
    /^pipeline +a\n +→ b$/m,
  ])
    t.regex(text, line)
  const json = toJson(comparison)
  t.like(json, {
    answers: 'same',
    before: { requestId: 'req_1', answer: 'a' },
    now: { modelServed: 'served', answer: 'a' },
  })
  t.false('trace' in (json as { before: object }).before) // safe: its shape
})
