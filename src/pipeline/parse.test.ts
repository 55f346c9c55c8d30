import test from 'ava'
import fc from 'fast-check'
import { GatewayError } from '../core/errors.ts'
import { parsePipeline, printPipeline } from './parse.ts'

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/).filter((text) => text !== 'none')
const options = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }),
  fc.string({ maxLength: 20, unit: 'grapheme' }),
  { maxKeys: 4, noNullPrototype: true },
)
const steps = fc.uniqueArray(fc.record({ name, options }), { selector: (step) => step.name, maxLength: 8 })

test('parse: printing and parsing again gives the same steps', (t) => {
  fc.assert(
    fc.property(steps, (generated) => {
      const parsed = parsePipeline(printPipeline(generated))
      t.deepEqual(
        parsed.map(({ name, options }) => ({ name, options })),
        generated,
      )
    }),
  )
})

test('parse: any text gives steps or invalid_request, never anything else', (t) => {
  let refused = 0
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 60 }), fc.stringMatching(/^[a-z?&=,% -]{0,40}$/)), (text) => {
      try {
        parsePipeline(text)
      } catch (error) {
        refused++
        return error instanceof GatewayError && error.code === 'invalid_request'
      }
      return true
    }),
  )
  t.true(refused > 0)
})

test('parse: the empty string, white space and none mean no plugins', (t) => {
  for (const text of ['', '  ', 'none', ' none ']) t.deepEqual(parsePipeline(text), [])
  t.is(printPipeline([]), 'none')
})

test('parse: positions count characters of the original string', (t) => {
  t.deepEqual(
    parsePipeline(' a , b?x=1 ,c').map(({ position }) => position),
    [1, 5, 12],
  )
})

test('parse: values are percent-decoded and a plus stays a plus', (t) => {
  t.deepEqual(parsePipeline('patterns?use=a+b%2Cc&flag')[0]?.options, { use: 'a+b,c', flag: 'true' })
})

for (const [text, expected] of [
  ['a,,b', 'position 2'],
  ['Upper', '`Upper`'],
  ['redact:mode=block', '`name?option=value&option=value`'],
  ['redact mode=block', '`name?option=value&option=value`'],
  ['redact(mode=block)', '`name?option=value&option=value`'],
  ['a,a', 'repeated'],
  ['a?x=1&x=2', 'given twice'],
  ['a?x=%zz', 'percent-encoded'],
  ['a'.repeat(8001), 'at most 8000'],
] as const) {
  test(`parse: refuses ${text.slice(0, 20)} with a reason`, (t) => {
    const error = t.throws(() => parsePipeline(text), { instanceOf: GatewayError })
    t.true(error.message.includes(expected), error.message)
  })
}

test('parse: an option named __proto__ is an ordinary option', (t) => {
  const [step] = parsePipeline('a?__proto__=1')
  t.deepEqual(Object.entries(step?.options ?? {}), [['__proto__', '1']])
  t.is(({} as Record<string, unknown>)['1'], undefined)
})
