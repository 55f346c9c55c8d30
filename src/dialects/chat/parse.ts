import { GatewayError } from '../../core/errors.ts'
import { explain } from '../../core/request/message.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { scanBody } from '../scan-body.ts'
import { HEAD_FIELDS, headSchema } from './request-schema.ts'

/** Parses the body of a chat completion request. Throws `invalid_request` that names the field or the position. */
export function parseChatRequest(bytes: Buffer): RequestDocument {
  const shape = scanBody(bytes)
  const document = new RequestDocument(bytes, shape)
  const checked = headSchema.safeParse(Object.fromEntries(HEAD_FIELDS.map((name) => [name, document.field(name)])))
  if (!checked.success) throw new GatewayError('invalid_request', explain(checked.error))
  if (shape.messages.length === 0)
    throw new GatewayError('invalid_request', 'messages: expected an array of at least one message.')
  return document
}
