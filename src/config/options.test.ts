import test from 'ava'
import { listOptions, typeNameOf } from './options.ts'
import { configSchema, PLUGIN_SETTINGS } from './schema.ts'

const options = listOptions(configSchema)
const nameOf = ({ path }: { path: readonly string[] }) => path.join('.')

/** Variables that operators and tests rely on. */
const VARIABLES = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'HOST',
  'HTTPS_PROXY',
  'LOG_LEVEL',
  'NO_PROXY',
  'PORT',
  'REDIS_URL',
  'SVC_CORS_ORIGINS',
  'SVC_DATA_DIR',
  'SVC_MODE',
  'SVC_PIPELINE',
  'SVC_PLUGINS_DIR',
]

test('options: every option has a description', (t) => {
  t.true(options.length > 30)
  for (const option of options) {
    const text = option.description ?? ''
    t.regex(text, /^[A-Z`].{9,}\.$/s, `${nameOf(option)}: ${text}`)
  }
})

test('options: every environment variable overrides one option', (t) => {
  const names = options.flatMap(({ env }) => env ?? [])
  t.is(new Set(names).size, names.length)
  for (const name of VARIABLES) t.true(names.includes(name), name)
  for (const name of names) t.regex(name, /^[A-Z][A-Z_]+$/)
})

test('options: every credential and address that may hold one is marked as secret', (t) => {
  const telling = options.filter((option) =>
    /(?<!^)key|pepper|secret|(?<!max_)token(?!s_per)|password|redis_url|proxy$/.test(nameOf(option)),
  )
  const secret = options.filter(({ secret }) => secret === true).map(nameOf)
  t.true(secret.length >= 3)
  for (const option of telling) {
    if (nameOf(option) !== 'providers.no_proxy') t.true(secret.includes(nameOf(option)), nameOf(option))
  }
})

test('options: every option has a readable type name', (t) => {
  for (const { path, schema } of options)
    t.notRegex(typeNameOf(schema), /^(undefined|union|optional|custom|)$/, path.join('.'))
})

test('options: every section refuses unknown options', (t) => {
  const paths = options.flatMap(({ path }) => path.map((_, depth) => path.slice(0, depth)))
  const sections = new Map(paths.map((path) => [path.join('.'), path]))
  t.true(sections.has('mpp.challenges_per_minute'))
  for (const section of sections.values()) {
    const path = [...section, 'nonsense']
    const written = path.reduceRight<unknown>((value, key) => ({ [key]: value }), 1)
    const issues = configSchema.safeParse(written).error?.issues ?? []
    const refused = issues.map((issue) => [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys : [])])
    t.true(
      refused.some((place) => place.join('.') === path.join('.')),
      path.join('.'),
    )
  }
})

test('options: no option of the plugins section can be mistaken for a plugin', (t) => {
  const own = options.filter(({ path }) => path[0] === 'plugins').map(({ path }) => path[1])
  t.deepEqual(own, PLUGIN_SETTINGS)
})
