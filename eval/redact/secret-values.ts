/** Keys, tokens and passwords by their issuers' formats, and look-alikes: other lengths, other letters, names, digests. */
import type { Random } from '../loops/random.ts'
import { ALNUM, BASE64, digits, HEX, type Make, some, URL_SAFE } from './make-value.ts'

/** Makers of one kind. */
export interface Makers {
  readonly values: readonly Make[]
  readonly lookAlikes: readonly Make[]
}

/** Returns a maker of a prefix, random characters, and perhaps an end. */
function of(prefix: string, alphabet: string, length: number, end = ''): Make {
  return (random) => prefix + some(random, alphabet, length) + end
}

const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const NAMES = [
  'user_token_count',
  'max-tokens-per-day',
  'secret_rotation_days',
  'api_key_header_name',
  'sk-learn-pipeline',
]
const DIGESTS: readonly Make[] = [
  (random) => random.hex(40),
  (random) => `sha256-${some(random, BASE64, 43)}=`,
  (random) => `${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-a${random.hex(3)}-${random.hex(12)}`,
  (random) => `req_${some(random, ALNUM, 24)}`,
  (random) => random.pick(NAMES),
]

const apiKey: Makers = {
  values: [
    of('sk-ant-api03-', URL_SAFE, 93, 'AA'),
    of('sk-ant-admin01-', URL_SAFE, 93, 'AA'),
    (random) => `sk-${some(random, ALNUM, 20)}T3BlbkFJ${some(random, ALNUM, 20)}`,
    (random) => `sk-proj-${some(random, URL_SAFE, 74)}T3BlbkFJ${some(random, URL_SAFE, 73)}a`,
    of('sk-svcacct-', URL_SAFE, 80, '9'),
    of('sk-or-v1-', HEX, 64),
    of('sk-', HEX, 32),
    of('AIzaSy', URL_SAFE, 32, 'k'),
    of('gsk_', ALNUM, 52),
    of('xai-', ALNUM, 80),
    of('pplx-', ALNUM, 48),
    of('r8_', ALNUM, 37),
    of('hf_', ALNUM, 34),
    of('nvapi-', URL_SAFE, 63, 'z'),
  ],
  lookAlikes: [
    ...DIGESTS,
    of('sk-', ALNUM, 12),
    of('AIza', ALNUM, 20),
    of('hf_', 'abcdefghijklmnop_', 20),
    () => 'sk-ant-api03-your-key-here',
    of('gsk_', 'abcdefgh', 8),
  ],
}

const cloudKey: Makers = {
  values: [
    of('AKIA', CAPITALS, 16),
    of('ASIA', CAPITALS, 16),
    of('ABSK', BASE64, 120, '=='),
    of('GOCSPX-', URL_SAFE, 27, '4'),
    of('ya29.a0', URL_SAFE, 140, '4'),
    of('dop_v1_', HEX, 64),
    of('dapi', HEX, 32),
    of('hvs.', URL_SAFE, 90, '4'),
    of('sbp_', HEX, 40),
    (random) => `tskey-auth-${some(random, ALNUM, 12)}-${some(random, ALNUM, 32)}`,
  ],
  lookAlikes: [
    ...DIGESTS,
    of('AKIA', CAPITALS, 9),
    of('XAKIA', CAPITALS, 16),
    of('ASIA', 'ABCDEFGH', 5),
    of('dapi', HEX, 12),
    of('ya29.', 'abc', 6),
  ],
}

const token: Makers = {
  values: [
    of('ghp_', ALNUM, 36),
    of('ghs_', ALNUM, 36),
    (random) => `github_pat_${some(random, ALNUM, 22)}_${some(random, ALNUM, 59)}`,
    of('glpat-', URL_SAFE, 19, 'x'),
    (random) => `xoxb-${digits(random, 12)}-${digits(random, 13)}-${some(random, ALNUM, 24)}`,
    of('sk_live_', ALNUM, 24),
    of('rk_test_', ALNUM, 99),
    of('whsec_', ALNUM, 32),
    of('npm_', ALNUM, 36),
    of('pypi-AgEIcHlwaS5vcmc', URL_SAFE, 150, 'g'),
    of('SK', HEX, 32),
    (random) => `SG.${some(random, ALNUM, 22)}.${some(random, ALNUM, 43)}`,
    of('dckr_pat_', ALNUM, 27),
    of('shpat_', HEX, 32),
    of('lin_api_', ALNUM, 40),
    (random) => `${digits(random, 10)}:AA${some(random, URL_SAFE, 32)}k`,
  ],
  lookAlikes: [
    ...DIGESTS,
    of('ghp_', ALNUM, 12),
    of('npm_', 'abcdefg_', 14),
    of('SK', CAPITALS, 14),
    of('xoxb-', 'abcdef', 6),
    of('pk_live_', ALNUM, 24),
    () => 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  ],
}

const pem =
  (label: string, lines: number): Make =>
  (random) =>
    [
      `-----BEGIN ${label}-----`,
      ...Array.from({ length: lines }, () => some(random, BASE64, 64)),
      `${some(random, BASE64, 42)}==`,
      `-----END ${label}-----`,
    ].join('\n')

const privateKey: Makers = {
  values: [
    ...['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'ENCRYPTED PRIVATE KEY'].map(
      (label, i) => pem(label, 4 + i),
    ),
    (random) => pem('PRIVATE KEY', 6)(random).replaceAll('\n', String.raw`\n`),
  ],
  lookAlikes: [
    pem('CERTIFICATE', 6),
    pem('PUBLIC KEY', 3),
    pem('CERTIFICATE REQUEST', 4),
    () => '-----BEGIN PRIVATE KEY-----',
    ...DIGESTS,
  ],
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const jwt: Makers = {
  values: ['HS256', 'RS256', 'ES256'].map(
    (alg): Make =>
      (random) =>
        [
          part({ alg, typ: 'JWT' }),
          part({ sub: digits(random, 8), iat: 1_700_000_000 }),
          some(random, URL_SAFE, alg === 'RS256' ? 342 : 43),
        ].join('.'),
  ),
  lookAlikes: [
    (random) => part({ page: random.int(1, 99), sort: 'name' }),
    (random) => `${part({ alg: 'none' })}.${random.hex(6)}`,
    (random) => `eyJhbGc.${random.hex(4)}.${random.hex(4)}`,
    ...DIGESTS,
  ],
}

const passwordOf: Make = (random) =>
  `${some(random, ALNUM, random.int(6, 20))}${random.pick(['!', '-', '.', '_', '*', '$', '%21', 'Z'])}${some(random, ALNUM, 4)}`
const HOSTS = ['db.prod.acme.io', '10.1.4.7', 'cache-1', 'pg.eu-west.acme.dev', 'localhost']
const uri = (scheme: string, path: string) => (random: Random, secret: string) =>
  `${scheme}://${random.pick(['app', 'svc_orders', 'admin', 'root'])}:${secret}@${random.pick(HOSTS)}${path}`

/** Addresses with a place for the password, which alone is the value. */
export const CONNECTIONS: readonly ((random: Random, secret: string) => string)[] = [
  uri('postgres', ':5432/orders?sslmode=require'),
  uri('postgresql+asyncpg', '/orders'),
  uri('mysql', ':3306/shop'),
  uri('mongodb+srv', '/?retryWrites=true'),
  uri('amqps', ':5671/vhost'),
  uri('https', '/repo.git'),
  (random, secret) => `redis://:${secret}@${random.pick(HOSTS)}:6379/0`,
]

const connection: Makers = {
  values: [passwordOf],
  lookAlikes: [
    (random) => `postgres://${random.pick(HOSTS)}:5432/orders`,
    (random) => `https://${random.pick(['docs', 'api'])}.acme.io:8443/a/b@2x?at=10:30`,
    () => `postgres://app:\${PGPASSWORD}@db/orders`,
    () => 'mysql://user:password@localhost/shop',
    () => 'redis://:<password>@cache:6379',
    (random) => `ssh://git@git.acme.io:${random.int(1000, 9999)}/team/app.git`,
    (random) => `https://acme.io/users/@${random.hex(6)}:latest`,
  ],
}

/** Statements with a place for a secret, which alone is the value. */
export const ASSIGNMENTS: readonly string[] = [
  'DB_PASSWORD=%s',
  'export API_KEY="%s"',
  '  password: "%s"',
  '"clientSecret": "%s",',
  "const authToken = '%s'",
  'aws_secret_access_key = %s',
  'Authorization: Bearer %s',
  '{\\"api_key\\": \\"%s\\"}',
  'curl -H "x-api-key: %s" https://api.acme.io',
  'AccountName=acme;AccountKey=%s;EndpointSuffix=core.windows.net',
  'the password is %s, please rotate it',
  'deploy --token %s --region eu',
]

const REFERENCES = [
  'process.env.DB_PASSWORD',
  '$DB_PASSWORD',
  '<your-api-key>',
  'undefined',
  'string',
  'getSecret()',
  'options.apiKey',
  '********',
  'changeme',
  'required',
  'config.auth.token',
  'none',
  '{{ .Values.password }}',
  'true',
]

const secret: Makers = {
  values: [
    (random) => some(random, BASE64, 40),
    (random) => some(random, HEX, 32),
    (random) => some(random, ALNUM, random.int(20, 48)),
    (random) => `${some(random, ALNUM, 10)}-${some(random, ALNUM, 10)}_${some(random, ALNUM, 12)}`,
  ],
  lookAlikes: [
    (random) => `password: ${random.pick(REFERENCES)}`,
    (random) => `const apiKey = ${random.pick(REFERENCES)}`,
    (random) => `max_tokens: ${random.int(100, 99_999)}`,
    (random) => `"token": "${random.pick(['input', 'output', 'cached', 'reasoning', 'end_turn', 'string_literal'])}"`,
    (random) => `commit ${random.hex(40)}`,
    (random) => `"integrity": "sha512-${some(random, BASE64, 86)}=="`,
    (random) => `secretName: ${random.pick(['tls-cert', 'orders-db-credentials', 'registry-pull'])}`,
    (random) => `keyword = "${random.pick(['select', 'function', 'password'])}"`,
    (random) => `primary_key = ${random.int(1, 9_999_999)}`,
  ],
}

/** Makers by kind. */
export const SECRETS: Readonly<Record<string, Makers>> = {
  api_key: apiKey,
  cloud_key: cloudKey,
  token,
  private_key: privateKey,
  jwt,
  connection,
  secret,
}
