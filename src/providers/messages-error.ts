import { errorTypeOf } from '../dialects/messages/error-type.ts'
import { providersError } from '../dialects/messages/window-error.ts'

/** Builds an error body in the Messages shape for a provider whose errors have another shape. */
export function messagesErrorBody(status: number, message: string | undefined): Buffer {
  const words = message || `The provider answered ${status} without a readable error.`
  const error = providersError(errorTypeOf(status), words)
  return Buffer.from(JSON.stringify({ type: 'error', error }))
}
