import { type ErrorCode, GatewayError } from '../../core/errors.ts'
import { tryParseJson } from '../../core/json/json-value.ts'
import { BytesReply } from '../../core/reply/reply.ts'
import { chatErrorOf } from '../chat/reply/errors.ts'
import { RESPONSES_REPLIES } from './replies.ts'
import { codeOf } from './reply/endings.ts'

/**
 * DESIGN: errors of limits as clients of Responses act on them.
 *
 * Codex repeats most errors up to five times. It ends the turn, and shows when to go on, for a 429 of the type
 * `usage_limit_reached` with `resets_at` in seconds; it shows `x-codex-promo-message` as the advice before that time. It
 * compacts the conversation before the next turn after a 400 with the code `context_length_exceeded`. Any other 429 is waited
 * for where it has `retry-after`. Tried with Codex 0.169.0.
 * `error.code` stays the gateway's own.
 */

/** Advice of a limit, which Codex puts before "or try again at …". */
const ADVICE: Partial<Record<ErrorCode, (fields: Fields) => string>> = {
  cost_limit_per_request: (fields) => `Compact the conversation, raise the cap of $${fields.limit} for one request`,
  cost_limit_per_day: (fields) => `Raise the gateway's cap of $${fields.limit} a day${ownerOf(fields)}`,
  cost_limit_per_month: (fields) => `Raise the gateway's cap of $${fields.limit} a month${ownerOf(fields)}`,
  cost_limit_per_conversation: raiseAdvice,
  cost_limit_per_agent: raiseAdvice,
  cost_limit_per_run: raiseAdvice,
  turn_limit_per_conversation: raiseAdvice,
  token_limit_per_conversation: raiseAdvice,
  time_limit_per_conversation: raiseAdvice,
  plan_calls_used: () => 'Take a larger plan of the gateway',
  payment_required: () => 'Add credits to your account at the gateway',
}

type Fields = GatewayError['fields']

/** Returns the owner of a cap on more than one key. */
function ownerOf({ cap, tag }: Fields): string {
  if (cap === 'tag') return ` for the tag ${tag}`
  return cap === 'person' || cap === 'team' ? ` for this ${cap}` : ''
}

/** Advises to raise a budget, by the command that the refusal names. */
function raiseAdvice({ raise_with: command }: Fields): string {
  return `Ask the owner of the key to run ${command}`
}

const LIMIT_TYPE = 'usage_limit_reached'
const LIMIT_STATUS = 429
const UNPAID_STATUS = 402
const TOO_LARGE_STATUS = 413
const TOO_LONG_STATUS = 400
const TOO_LONG = { type: 'invalid_request_error', code: 'context_length_exceeded' }
const ADVICE_HEADER = 'x-codex-promo-message'

/** Returns one of the gateway's own errors in the form that clients of Responses act on. */
export function toResponsesError(error: GatewayError, nowMs: number): GatewayError {
  if (error.code === 'request_too_large') return tooLong(error)
  const advice = ADVICE[error.code]
  return advice === undefined ? error : limitReached(error, advice(error.fields), nowMs)
}

function limitReached(error: GatewayError, advice: string, nowMs: number): GatewayError {
  const { code, message, fields, headers, cause } = error
  // A cap of one request does not pass with time.
  const resetsAtMs = code === 'cost_limit_per_request' ? Number.NaN : Date.parse(String(fields.resets_at))
  const isKnown = Number.isFinite(resetsAtMs)
  return new GatewayError(code, message, {
    status: LIMIT_STATUS,
    fields: {
      ...fields,
      type: LIMIT_TYPE,
      plan_type: null,
      resets_at: isKnown ? Math.ceil(resetsAtMs / 1000) : null,
      resets_in_seconds: isKnown ? Math.max(0, Math.ceil((resetsAtMs - nowMs) / 1000)) : null,
    },
    headers: { ...headers, [ADVICE_HEADER]: advice },
    cause,
  })
}

/** Renders a provider's error, in the Messages shape, in the form that clients of Responses act on. */
export function renderProviderError({ status, headers, bytes }: BytesReply): BytesReply {
  const text = bytes.toString()
  const shown = chatErrorOf(status, tryParseJson(text) ?? text)
  const { type, message } = shown.error
  const form = status === TOO_LARGE_STATUS ? TOO_LONG : { code: shown.error.code ?? codeOf(type, message) ?? null }
  const reply = (status: number, more: object, advice?: string) =>
    new BytesReply(
      status,
      advice === undefined ? headers : { ...headers, [ADVICE_HEADER]: advice },
      Buffer.from(JSON.stringify({ ...shown, error: { ...shown.error, ...form, ...more } })),
      { dialect: RESPONSES_REPLIES },
    )
  if (status === TOO_LARGE_STATUS) return reply(TOO_LONG_STATUS, {})
  if (status !== UNPAID_STATUS) return reply(status, {})
  return reply(
    LIMIT_STATUS,
    { type: LIMIT_TYPE, plan_type: null, resets_at: null },
    'Add credit to the account at the provider',
  )
}

/** A body that is too large is a conversation that is too long. */
function tooLong({ code, message, fields, headers, cause }: GatewayError): GatewayError {
  return new GatewayError(code, message, {
    status: TOO_LONG_STATUS,
    fields: { ...fields, ...TOO_LONG },
    headers,
    cause,
  })
}
