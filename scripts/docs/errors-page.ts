import { type ErrorCode, errorCatalogue, GatewayError } from '../../src/core/errors.ts'
import { code, GENERATED, table } from './markdown.ts'

/** Causes of each code. A missing code does not type-check. */
const WHEN: Record<ErrorCode, string> = {
  invalid_request: 'The body, the pipeline string, an option or the model’s prefix is not valid; the message names it.',
  authentication_error: 'No credential was sent, or there is none for the provider.',
  key_revoked: 'The key was revoked; it does not count as a failed authentication of its address.',
  key_expired:
    'The key has expired, or was rotated and its overlap is over; no failed authentication of its address either.',
  payment_required: 'Out of credits.',
  permission_error: 'The caller is known but may not do this.',
  not_found: 'The path, or the caller’s resource, does not exist.',
  method_not_allowed: 'The path exists, the method does not; `allow` lists those that do.',
  request_timeout: 'The request did not arrive in time.',
  request_too_large: 'The body is larger than `server.body_limit`.',
  unsupported_media_type: 'The body is not declared as JSON, or is compressed.',
  price_too_low: 'A paid call could cost more than its price covers; the message names what would fit.',
  cost_limit_per_request: 'The call costs more than the cap of one request.',
  cost_limit_per_day: 'The cap of the day is reached.',
  cost_limit_per_month: 'The cap of the month is reached.',
  cost_limit_per_conversation: 'The budget of the conversation is used up; the message has the command that raises it.',
  cost_limit_per_agent: 'The budget of the agent in its run is used up; the same.',
  cost_limit_per_run: 'The budget of the run, a conversation with its sub-agents, is used up; the same.',
  turn_limit_per_conversation: 'The turns of the conversation are used up; the same.',
  token_limit_per_conversation: 'The tokens of the conversation are used up; the same.',
  time_limit_per_conversation: 'The time of the conversation is over; the same.',
  plan_calls_used: 'The quota of the account’s plan is used up; the message names its renewal.',
  rate_limit_error: 'More requests than the key’s rate allows.',
  internal_error: 'A fault of the gateway; its log has the reason under the request id.',
  upstream_error:
    'The provider answered 5xx, or could not be reached, after all attempts; `error.provider` has its name, status, type and request id.',
  service_unavailable: 'A store or a plugin that requests depend on has failed.',
  not_configured: 'The operator has not set what this route needs; `error.detail` names it.',
  unavailable_in_mode: 'Keys and billing do not exist in local mode.',
}

const INTRODUCTION = `# Errors

An error of the gateway itself has this body, and the id of the request in the headers \`request-id\` and \`x-request-id\` and in the body:

\`\`\`json
{ "type": "error", "error": { "type": "invalid_request", "message": "max_tokens: …" }, "request_id": "req_…" }
\`\`\`

\`error.detail\`, if present, is a stable code that the message begins with as well. Errors of the provider (4xx) are not
in this list: clients of the provider's own dialect get body, status and headers unchanged, others in their own dialect.
A stream that breaks after its first byte ends with an \`error\` event, or with a chunk that holds an \`error\` for chat clients, of the type \`api_error\`.`

const REMARK = `\`x-should-retry: false\` makes the provider's SDKs not retry.`

/** Renders the reference page of all errors. */
export function errorsPage(): string {
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  const rows = codes.map((name) => {
    const { status, type } = errorCatalogue[name]
    return [code(name), String(status), code(type), WHEN[name], headersOf(name)]
  })
  const head = ['code', 'status', '`error.type`', 'when', 'headers']
  return `${[GENERATED, INTRODUCTION, table(head, rows), REMARK].join('\n\n')}\n`
}

function headersOf(name: ErrorCode): string {
  const { headers } = new GatewayError(name, '')
  return Object.entries(headers)
    .map(([header, value]) => code(`${header}: ${value}`))
    .join(', ')
}
