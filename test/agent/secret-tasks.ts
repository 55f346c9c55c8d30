import { bash, bashOf, edit, lineWith, read, type Task, write } from './tasks.ts'

/** A task whose files hold values that may not reach a provider. */
export interface SecretTask extends Task {
  readonly secrets: readonly string[]
}

const GITHUB = 'ghp_R4nd0mCanaryR4nd0mCanaryR4nd0mCana01'
const AWS = 'AKIAZ7CANARYZ7CANARX'
const AWS_SECRET = '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'
const DATABASE_PASSWORD = 'c4n4ry-Pw9xKq2'
const DATABASE = `postgres://app:${DATABASE_PASSWORD}@db.acme-corp.io:5432/shop`
const STRIPE = 'sk_live_51CanaryCanaryCanary0123456789ab'
const CLIENT_SECRET = 'Zx81kQpL0vN3cAn4ryTu6'
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkiLCJpYXQiOjE3NjMwMDAwMDB9.c2lnbmF0dXJlb2ZhY2FuYXJ5c2lnbmF0dXJl'
const KEY_LINES = Array.from({ length: 4 }, (_, index) =>
  `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCanary${index}`.padEnd(64, 'Q'),
)
const PEM = ['-----BEGIN PRIVATE KEY-----', ...KEY_LINES, '-----END PRIVATE KEY-----', ''].join('\n')
const MAILS = Array.from({ length: 12 }, (_, index) => `customer.canary${index}@acme-corp.io`)
const CARD = '4111 1111 1111 1111'
const IBAN = 'DE89 3704 0044 0532 0130 00'

const ENVIRONMENT = [
  '# settings',
  `DATABASE_URL=${DATABASE}`,
  `GITHUB_TOKEN=${GITHUB}`,
  'PORT=3000',
  `AWS_ACCESS_KEY_ID=${AWS}`,
  `AWS_SECRET_ACCESS_KEY=${AWS_SECRET}`,
  '',
].join('\n')
const CUSTOMERS = ['name,mail,card', ...MAILS.map((mail, index) => `customer ${index},${mail},${CARD}`), ''].join('\n')
const SETTINGS = `${JSON.stringify({ app: 'shop', client_secret: CLIENT_SECRET, stripe: { key: STRIPE, mode: 'live' } }, null, 2)}\n`

/** Tasks of everyday work on files with secrets and personal data: each value has to come back as it was. */
export const SECRET_TASKS: readonly SecretTask[] = [
  {
    name: 'secret-environment-to-yaml',
    secrets: [GITHUB, DATABASE_PASSWORD],
    files: { '.env': ENVIRONMENT },
    steps: [
      read('.env'),
      write('config.yaml', ({ text }) => {
        const assigned = (name: string) => lineWith(text(0), `${name}=`).replace(`${name}=`, '')
        return `github:\n  token: "${assigned('GITHUB_TOKEN')}"\ndatabase: ${assigned('DATABASE_URL')}\n`
      }),
    ],
  },
  {
    name: 'secret-line-edited',
    secrets: [GITHUB, AWS, AWS_SECRET],
    files: { '.env': ENVIRONMENT },
    steps: [
      read('.env'),
      edit('.env', 0, 'GITHUB_TOKEN=', (line) => `# rotated\n${line}`),
      read('.env'),
      edit('.env', 2, 'AWS_SECRET_ACCESS_KEY=', (line) => line.replace('AWS_SECRET', 'BACKUP_SECRET')),
    ],
  },
  {
    name: 'secret-key-copied',
    secrets: KEY_LINES,
    files: { 'key.pem': PEM },
    steps: [
      read('key.pem'),
      write('copy.pem', ({ text }) => `${text(0).trimEnd()}\n`),
      bash('cmp key.pem copy.pem && echo same > same.txt'),
    ],
  },
  {
    name: 'secret-key-by-cat',
    secrets: KEY_LINES,
    files: { 'key.pem': PEM },
    steps: [
      bash('cat key.pem'),
      write('key.json', ({ text }) => `${JSON.stringify({ key: `${text(0).trimEnd()}\n` })}\n`),
      bash('node -e "process.stdout.write(require(\'./key.json\').key)" | cmp - key.pem && echo same > same.txt'),
    ],
  },
  {
    name: 'secret-settings',
    secrets: [CLIENT_SECRET, STRIPE],
    files: { 'settings.json': SETTINGS },
    steps: [
      bash('cat settings.json'),
      read('settings.json'),
      edit('settings.json', 1, '"client_secret"', (line) => `${line}\n  "region": "eu",`),
      bashOf(({ text }) => `printf '%s' '${/"key": "([^"]+)"/.exec(text(0))?.[1]}' > stripe.txt`),
    ],
  },
  {
    name: 'secret-customers',
    secrets: [...MAILS, CARD],
    files: { 'customers.csv': CUSTOMERS },
    steps: [
      read('customers.csv'),
      write('even.csv', ({ text }) => {
        const rows = text(0).trimEnd().split('\n').slice(1)
        return `${rows.filter((_, index) => index % 2 === 0).join('\n')}\n`
      }),
      bashOf(
        ({ text }) => `grep -c '${/,(\S+?),/.exec(lineWith(text(0), 'customer 3,'))?.[1]}' customers.csv > count.txt`,
      ),
    ],
  },
  {
    name: 'secret-replaced-by-sed',
    secrets: MAILS.slice(0, 2),
    files: { 'team.txt': `owner: ${MAILS[0]}\nbackup: ${MAILS[1]}\n` },
    steps: [
      bash('cat team.txt'),
      bashOf(({ text }) => {
        const [owner, backup] = ['owner: ', 'backup: '].map((name) => lineWith(text(0), name).replace(name, ''))
        return `sed -i 's/${owner}/${backup}/' team.txt`
      }),
      bash('sort -u team.txt > sorted.txt'),
    ],
  },
  {
    name: 'secret-in-code',
    secrets: [AWS, AWS_SECRET],
    files: { 'upload.py': `client = connect(\n    key="${AWS}",\n    secret="${AWS_SECRET}",\n)\n` },
    steps: [
      read('upload.py'),
      edit('upload.py', 0, 'secret=', () => '    secret=os.environ["SECRET"],'),
      bashOf(({ text }) => `echo "SECRET=${/secret="([^"]+)"/.exec(text(0))?.[1]}" > .env`),
    ],
  },
  {
    name: 'secret-of-a-log',
    secrets: [JWT],
    files: { 'app.log': `10:01 start\n10:02 authorization: Bearer ${JWT}\n10:03 end\n` },
    steps: [
      bash('tail -n 5 app.log'),
      bashOf(({ text }) => `printf '%s' '${/Bearer (\S+)/.exec(text(0))?.[1]}' | cut -d. -f1 > header.txt`),
      write('token.txt', ({ text }) => `${/Bearer (\S+)/.exec(text(0))?.[1]}\n`),
    ],
  },
  {
    name: 'secret-invoice',
    secrets: [IBAN, MAILS[4] ?? ''],
    files: { 'invoice.md': `# Invoice\n\nPay to **${IBAN}**, questions to <${MAILS[4]}>.\n` },
    steps: [
      read('invoice.md'),
      edit('invoice.md', 0, 'Pay to', (line) => line.replace('Pay to', 'Please pay to')),
      write('short.txt', ({ text }) => `${/\*\*(.+)\*\*/.exec(text(0))?.[1]} ${/<(.+)>/.exec(text(0))?.[1]}\n`),
    ],
  },
]
