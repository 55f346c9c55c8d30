import { GatewayError } from '../../core/errors.ts'
import { explain } from '../../core/request/message.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { scanBody } from '../scan-body.ts'
import { HEAD_FIELDS, headSchema } from './request-schema.ts'

const QUOTE = 0x22
const OPEN_BRACKET = 0x5b

/** Parses the body of a Responses request. Throws `invalid_request` that names the field or the position. */
export function parseResponsesRequest(bytes: Buffer): RequestDocument {
  const document = new RequestDocument(bytes, scanBody(bytes))
  const checked = headSchema.safeParse(Object.fromEntries(HEAD_FIELDS.map((name) => [name, document.field(name)])))
  if (!checked.success) throw new GatewayError('invalid_request', explain(checked.error))
  const first = document.raw('input')?.[0]
  if (first !== QUOTE && first !== OPEN_BRACKET)
    throw new GatewayError('invalid_request', 'input: expected a string or an array of items.')
  return document
}
