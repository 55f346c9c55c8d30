import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { GatewayError } from '../../../src/core/errors.ts'
import { parsePipeline, printPipeline } from '../../../src/pipeline/parse.ts'
import { attempt, type Fuzzer, promise } from '../fuzzer.ts'

const name = fc.constantFrom('exact-cache', 'semantic-cache', 'cost-guard', 'none', 'a', 'preserve')
const option = fc.tuple(
  fc.constantFrom('ttl', 'threshold', '__proto__', 'constructor', 'per_request'),
  fc.webQueryParameters(),
)
const step = fc
  .tuple(name, fc.array(option, { maxLength: 3 }))
  .map(([module, options]) =>
    [module, options.map(([key, value]) => `${key}=${value}`).join('&')].filter(Boolean).join('?'),
  )

/**
 * Pipeline strings: what is read, printed and read again is the same, and has at most 32 steps, each with names once;
 * every refusal is `invalid_request`.
 */
export const pipelineString: Fuzzer = {
  name: 'pipeline-string',
  seeds: fc.array(step, { maxLength: 5 }).map((steps) => steps.join(', ')),
  words: [
    ',',
    '?',
    '&',
    '=',
    '%2C',
    '%',
    '%ff',
    '%ed%a0%80',
    '%00',
    '%0d%0a',
    '+',
    'none',
    ' ',
    '__proto__=1',
    '?a=1&a=2',
    '\x01',
  ],
  mostMutations: 4,
  outcomes: ['steps', 'no steps', 'refused'],
  run({ text, salt }) {
    // A key's pipeline comes as JSON, which can hold half a character; the header's cannot.
    const pipeline = salt % 2 === 0 ? text : Buffer.from(text, 'latin1').toString().replaceAll('\x01', '\ud800')
    const parsed = attempt(() => parsePipeline(pipeline))
    if ('error' in parsed) {
      promise(parsed.error instanceof GatewayError && parsed.error.code === 'invalid_request', `threw ${parsed.error}`)
      return 'refused'
    }
    const steps = parsed.value
    const printed = printPipeline(steps)
    promise(/^[!-~]*$/.test(printed), `fits a header: ${printed}`)
    const again = parsePipeline(printed.length > 8000 ? 'none' : printed)
    const plain = (list: typeof steps) => list.map((each) => [each.name, Object.entries(each.options)])
    promise(printed.length > 8000 || isDeepStrictEqual(plain(again), plain(steps)), `${pipeline} became ${printed}`)
    promise(steps.length <= 32 && new Set(steps.map((each) => each.name)).size === steps.length, 'each module once')
    for (const { options, position } of steps) {
      promise(Object.getPrototypeOf(options) === Object.prototype, 'options are a plain object')
      promise(position >= 0 && position < pipeline.length, 'the position is in the text')
    }
    return steps.length === 0 ? 'no steps' : 'steps'
  },
}
