import { errorTypeOf } from '../dialects/messages/error-type.ts'

/** The body of an error in the Messages shape, for a provider that answers errors of another shape. */
export function messagesErrorBody(status: number, message: string | undefined): Buffer {
  const error = {
    type: errorTypeOf(status),
    message: message || `The provider answered ${status} without a readable error.`,
  }
  return Buffer.from(JSON.stringify({ type: 'error', error }))
}
