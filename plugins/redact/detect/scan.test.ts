import test from 'ava'
import { KINDS, type Kind, withoutOverlaps } from './finding.ts'
import { createScan } from './scan.ts'

const ALL = new Set<Kind>(KINDS)
const scan = createScan(ALL)
const found = (text: string) => scan(text).map(({ kind, start, end }) => `${kind} ${text.slice(start, end)}`)

/** Values in a context, by kind; the value is between `‹` and `›`. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  api_key: [
    'x-api-key:‹sk-ant-api03-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA›',
    'key=‹AIzaSyB1-234567890123456789012345678_Q0›',
    String.raw`{\"a\":\"x\n‹gsk_0123456789abcdefghijABCDEFGHIJ0123456789abcdef›\"}`,
    'a=1%26token%3D‹hf_abcdefghijklmnopqrstuvwxyz01234567›',
  ],
  cloud_key: [
    'id ‹AKIAIOSFODNN7EXAMPLQ›.',
    'https://x.blob.core.windows.net/c?se=1&sig=‹abcdefghij0123456789ABCDEFGHIJabcdefghij0123%3D›',
  ],
  token: [
    'git clone with ‹ghp_0123456789abcdefghijABCDEFGHIJ012345›',
    '‹xoxb-123456789012-1234567890123-abcdefghijklmnopqrstuvwx›',
    'https://‹hooks.slack.com/services/T00000000/B00000000/abcdefghij0123456789abcd›',
  ],
  private_key: [
    `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n‹MIIEpAIBAAKCAQEA0123›\n-----END RSA PRIVATE KEY----- and`,
    `"-----BEGIN PRIVATE KEY-----\\n‹MIIEpAIBAAKCAQEA0123›\\nZm9v\\n-----END PRIVATE KEY-----\\n"`,
    `cut: -----BEGIN PRIVATE KEY-----\n${'MIIEpAIBAAKCAQEA0123\n'.repeat(4)}‹MIIEpAIBAAKCAQEA4567›`,
  ],
  jwt: ['cookie=‹eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U›;'],
  connection: ['postgres://app:‹s3cr3t!›@db:5432/x', 'amqps://a:‹p@ss›@h/v'],
  secret: [
    'DB_PASSWORD=‹hunter2hunter2!A›',
    '"client_secret": "‹a8f5f167f44f4964e6c998dee827110c›"',
    'the password is ‹Tr0ub4dor&3›',
    'Authorization: Basic ‹dXNlcjpwYXNzd29yZDEyMw==›',
  ],
  card: ['pay with ‹4111 1111 1111 1111› now', '‹378282246310005›', '‹5555-5555-5555-4444›'],
  iban: ['IBAN: ‹DE89 3704 0044 0532 0130 00›', '‹GB82WEST12345698765432›'],
  email: ['mail ‹anna.k+x@acme.io›, please', '<‹a@b.co.uk›>'],
  phone: ['call ‹+49 30 901820›0', 'tel ‹+1 415 555 2671›', '‹(415) 555-2671›', 'Tel. ‹030 901820›'],
  national_id: ['‹536-22-8714›', 'DNI ‹12345678Z›', '‹111.444.777-35›', 'CF ‹RSSMRA85T10A562S›', '‹756.9217.0769.85›'],
  host: ['ping ‹10.1.2.3›', 'at ‹db-1.prod.internal›:5432'],
}

const LOOK_ALIKES: readonly string[] = [
  '4111 1111 1111 1112',
  'DE88 3704 0044 0532 0130 00',
  'user@example.com',
  'git@github.com:a/b.git',
  'npm i left-pad@1.3.0 @types/node',
  'icon@2x.png',
  'postgres://app:$PGPASSWORD@db/x',
  'password: string',
  'const token = await createToken(options)',
  'apiKey: process.env.API_KEY',
  'max_tokens: 123456',
  'commit 3f786850e387550fdab836ed7e6dc881de23001b',
  '2026-11-23T10:00:01.123456789Z',
  '1700000000000',
  'sk-learn',
  'ghp_short',
  'AKIA1234',
  '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
  'REDACTED_EMAIL_7K2M9QX4T0RB',
  'password = REDACTED_SECRET_7K2M9QX4T0RB',
]

for (const [kind, texts] of Object.entries(VALUES))
  test(`detect: ${kind}`, (t) => {
    for (const marked of texts) {
      const value = /‹([\s\S]*)›/.exec(marked)?.[1] ?? ''
      const text = marked.replace(/[‹›]/g, '')
      const findings = scan(text)
      t.true(
        findings.some(
          ({ start, end }) => start <= text.indexOf(value) && end >= text.indexOf(value) + value.trimEnd().length,
        ),
        `${marked}: ${found(text).join(', ')}`,
      )
    }
  })

test('detect: look-alikes are none', (t) => {
  const usual = createScan(new Set(KINDS.filter((kind) => kind !== 'host')))
  for (const text of LOOK_ALIKES) t.deepEqual(usual(text), [], text)
})

test('detect: kinds that are not chosen are not found', (t) => {
  const cards = createScan(new Set<Kind>(['card']))
  t.deepEqual(
    cards('anna@acme.io pays with 4111111111111111').map(({ kind }) => kind),
    ['card'],
  )
})

test('detect: findings that overlap become one that covers both', (t) => {
  t.deepEqual(
    withoutOverlaps([
      { start: 0, end: 5, kind: 'secret' },
      { start: 3, end: 9, kind: 'phone' },
    ]),
    [{ start: 0, end: 9, kind: 'secret' }],
  )
})

test('detect: hostile repetitions are read once', (t) => {
  const pieces = [
    '-----BEGIN PRIVATE KEY-----',
    'eyJ.',
    'eyJ-',
    '://',
    'a:b@',
    '@',
    '1 ',
    '1-',
    '+',
    'password=',
    'DE',
    'sk-',
    '0 ',
    'AKIA',
  ]
  // No time is asserted: a quadratic search of these would not end within the test's own time-out.
  for (const piece of pieces) t.notThrows(() => scan(piece.repeat(200_000 / piece.length)))
})

test('detect: each line of a private key is a value of its own, also behind line numbers, and where it is cut', (t) => {
  const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw'
  const key = ['-----BEGIN PRIVATE KEY-----', line, 'Zm9vYmFy==', '-----END PRIVATE KEY-----', 'const next = 1']
  for (const sign of ['→', '\t'])
    for (const lines of [key, [...key.slice(0, 3), 'of the key']]) {
      const text = lines.map((each, index) => `${String(index + 1).padStart(6)}${sign}${each}`).join('\n')
      const found = createScan(new Set(['private_key']))(text).map(({ start, end }) => text.slice(start, end))
      t.deepEqual(found, [line, 'Zm9vYmFy=='])
    }
})
