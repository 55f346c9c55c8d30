import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { ConfigError } from '../../../src/config/config-error.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { ANY_NAME, listOptions } from '../../../src/config/options.ts'
import { configSchema } from '../../../src/config/schema.ts'
import { attempt, type Fuzzer, promise } from '../fuzzer.ts'

/** A disk would take longer than all else. */
const MEMORY_DISK = '/dev/shm'
const folder = mkdtempSync(path.join(existsSync(MEMORY_DISK) ? MEMORY_DISK : tmpdir(), 'turnpike-fuzz-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const file = path.join(folder, 'turnpike.yaml')
const env = { SVC_CONFIG: file, GIVEN: 'from the environment' }
const SECRET = 'svc_live_canary5d0e7c'

const OPTIONS = listOptions(configSchema)
const SECRETS = new Set(OPTIONS.filter(({ secret }) => secret === true).map((option) => option.path.join('.')))
/** Text that makes a variable of the name behind it. */
const DOLLAR = '$'
const value = fc.constantFrom(
  '1',
  '10s',
  '5MB',
  'true',
  'null',
  'text',
  '"a, b"',
  '[a, b]',
  '{}',
  '[]',
  '-1',
  'cloud',
  '~',
  `${DOLLAR}{GIVEN}`,
  '0.5',
  'https://a.example',
  '.inf',
  '1e400',
  'none',
)
const PATHS = OPTIONS.map(({ path: names }) => names.join('.'))
const entry = fc.tuple(fc.constantFrom(...PATHS), value).map(([name, text]) => ({
  names: name.replace(ANY_NAME, 'mine').split('.'),
  text: SECRETS.has(name) ? SECRET : text,
}))

/** Sections in the flow style, so that they nest whatever the order. */
function print(entries: readonly { names: string[]; text: string }[]): string {
  return entries.map(({ names, text }) => `${names.join(': {')}: ${text}${'}'.repeat(names.length - 1)}`).join('\n')
}

/**
 * Configuration files: they are taken, or refused with a `ConfigError` that names a place and holds no secret. Nothing
 * of them reaches what all objects inherit.
 */
export const yamlConfig: Fuzzer = {
  name: 'yaml-config',
  seeds: fc.array(entry, { maxLength: 4 }).map(print),
  words: [
    '&a ',
    '*a',
    '!!js/function ',
    '!!binary ',
    '<<: *a\n',
    '- ',
    ': ',
    '{',
    '}',
    '[',
    '|\n',
    '>\n',
    '---\n',
    '...\n',
    '\t',
    '__proto__: {polluted: 1}\n',
    'constructor: {prototype: {polluted: 1}}\n',
    `${DOLLAR}{HOME}`,
    `${DOLLAR}{`,
    '"',
    "'",
    '#',
    '? ',
    '%YAML 1.1\n',
    '\xef\xbb\xbf',
    '['.repeat(2000),
    '{a: '.repeat(2000),
    '&a [*a]',
  ],
  mostMutations: 3,
  outcomes: ['taken', 'refused'],
  run({ text }) {
    writeFileSync(file, text, 'latin1')
    const loaded = attempt(() => loadConfig(env))
    if (!('error' in loaded)) {
      promise(loaded.value.config.mode === 'local' || text.includes('cloud'), 'the mode is what is said')
      return 'taken'
    }
    const { error } = loaded
    promise(error instanceof ConfigError, `threw ${error instanceof Error ? error.stack : error}`)
    promise(/`[^`]+`|line \d+/.test(error.message), `names no place: ${error.message}`)
    promise(!error.message.includes(SECRET), `a message has a secret: ${error.message}`)
    return 'refused'
  },
}
