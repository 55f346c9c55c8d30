// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own form of variables
import test from 'ava'
import fc from 'fast-check'
import { ConfigError } from './config-error.ts'
import { withVariables } from './variables.ts'

const ENV = { KEY: 'sk-1', HOST: 'example.com', EMPTY: '', _a1: 'x', NESTED: '${KEY}', DOLLAR: '$& $1' }

for (const [text, expected] of [
  ['${KEY}', 'sk-1'],
  ['https://${HOST}/v1', 'https://example.com/v1'],
  ['${KEY}${HOST}', 'sk-1example.com'],
  ['${_a1}', 'x'],
  ['$KEY', '$KEY'],
  ['$ {KEY}', '$ {KEY}'],
  ['${}', '${}'],
  ['${1A}', '${1A}'],
  ['${NESTED}', '${KEY}'],
  ['${DOLLAR}', '$& $1'],
] as const) {
  test(`variables: \`${text}\` is read as \`${expected}\``, (t) => {
    t.is(withVariables(text, ENV), expected)
  })
}

test('variables: strings at any depth are replaced, and nothing else', (t) => {
  const value = { a: { b: ['${KEY}', 5, null, true] }, '${KEY}': 1.5 }
  t.deepEqual(withVariables(value, ENV), { a: { b: ['sk-1', 5, null, true] }, '${KEY}': 1.5 })
})

test('variables: an unset variable is an error that names it and its option', (t) => {
  const error = t.throws(() => withVariables({ providers: { keys: [{}, { api_key: '${NOPE}' }] } }, ENV), {
    instanceOf: ConfigError,
  })
  t.is(error.message, '`providers.keys.1.api_key`: the environment variable NOPE is not set.')
})

test('variables: an empty variable counts as unset', (t) => {
  t.throws(() => withVariables({ key: '${EMPTY}' }, ENV), { message: /`key`.*EMPTY/ })
})

test('variables: the error shows no other value', (t) => {
  const error = t.throws(() => withVariables({ key: '${KEY} ${NOPE}' }, ENV))
  t.false(error.message.includes('sk-1'))
})

test('variables: a text without variables is unchanged', (t) => {
  const value = fc.jsonValue().filter((json) => !JSON.stringify(json).includes('${'))
  fc.assert(fc.property(value, (json) => t.deepEqual(withVariables(json, {}), json)))
})
