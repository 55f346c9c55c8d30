import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { RequestDocument } from '../../../src/core/request/request.ts'
import { TokenEstimator } from '../../../src/spend/tokens/token-estimator.ts'
import { createHostileRequest } from '../../support/hostile-requests.ts'
import { readOwn } from '../../support/own-reading.ts'
import { attempt, type Fuzzer, promise } from '../fuzzer.ts'
import { JSON_WORDS } from './json-scan.ts'

/** No text weighs less than this share of its tokens: what letters at random weigh (`weights.ts`). */
const LEAST = 0.19
const MODEL = 'gpt-4o'
const PAYLOAD = 'The keeper of the road counts each carriage, and writes down what was paid for it. '
const estimator = new TokenEstimator()

/**
 * Model requests of both dialects: an estimate is never below a fifth of the text that a provider reads out of the body,
 * the last of several members or names without case, and it is a whole number for anything that is JSON.
 */
export const tokenEstimate: Fuzzer = {
  name: 'token-estimate',
  seeds: fc
    .tuple(fc.constantFrom('messages' as const, 'chat' as const), fc.nat(), fc.integer({ min: 1, max: 60 }))
    .map(([dialect, salt, times]) =>
      createHostileRequest({ dialect, model: MODEL, payload: PAYLOAD.repeat(times) }, salt),
    )
    .map((text) => Buffer.from(text).toString('latin1')),
  words: [
    ...JSON_WORDS,
    ...['"type":"image",', '"type":"thinking",', '"type":"custo\\u006d",', '"Content":"x",', '"data":"x",'],
    ...[
      '"source":{"type":"base64"},',
      '"citations":[],',
      '"defer_loading":true,',
      '"metadata":{},',
      '\\ud83d',
      '\\udc00',
    ],
  ],
  mostMutations: 3,
  outcomes: ['messages', 'chat', 'not JSON'],
  run({ text, salt }) {
    const bytes = Buffer.from(text, 'latin1')
    const dialect = salt % 2 === 0 ? 'messages' : 'chat'
    const tokens = estimator.inputTokens(new RequestDocument(bytes), MODEL, dialect)
    promise(Number.isSafeInteger(tokens) && tokens >= 1, `${tokens} tokens`)
    const own = isUtf8(bytes) ? attempt(() => readOwn(bytes.toString(), dialect)) : { error: 'no UTF-8' }
    if ('error' in own) return 'not JSON'
    promise(tokens >= LEAST * own.value.tokens, `${tokens} for ${own.value.tokens} tokens of text`)
    return dialect
  },
}
