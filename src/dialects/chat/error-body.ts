import type { GatewayError } from '../../core/errors.ts'

/** Builds an error body for both families of clients: the members of `error` are OpenAI's, the outer `type` is Anthropic's. */
export function chatErrorBody(error: GatewayError, requestId: string): object {
  const { error: body } = error.toBody()
  const shown = {
    ...chatError(String(body.type), error.message, error.code),
    ...body,
    param: body.param ?? paramOf(error),
  }
  return { type: 'error', error: shown, request_id: requestId }
}

/** Builds the error of a chat body or chunk. */
export function chatError(type: string, message: string, code: string | null = null) {
  return { type, message, code, param: null as string | null }
}

const FIELD_AT_START = /^([a-z_]+(?:\[\d+\]|\.[a-z_]+)*): /

/** Returns the field at the beginning of a refused request's message. */
function paramOf({ code, message }: GatewayError): string | null {
  return code === 'invalid_request' ? (FIELD_AT_START.exec(message)?.[1] ?? null) : null
}
