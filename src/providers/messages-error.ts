import { errorTypeOf } from '../dialects/messages/error-type.ts'

/** Builds an error body in the Messages shape for a provider whose errors have another shape. */
export function messagesErrorBody(status: number, message: string | undefined): Buffer {
  const error = {
    type: errorTypeOf(status),
    message: message || `The provider answered ${status} without a readable error.`,
  }
  return Buffer.from(JSON.stringify({ type: 'error', error }))
}
