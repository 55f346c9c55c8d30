import { BytesReply } from '../../../core/reply/reply.ts'
import type { ClientRequest } from '../../../core/request/client-request.ts'
import { chatError } from '../../chat/error-body.ts'
import { RESPONSES_REPLIES } from '../replies.ts'
import { CompactionOutput } from '../reply/compaction-output.ts'
import { toResponse } from '../reply/to-response.ts'
import type { ResponseOptions } from '../reply/to-response-events.ts'
import { compactingOf } from '../responses-request.ts'
import { toCompactedWindow } from './compacted-window.ts'

const UNUSABLE_STATUS = 400
const UNREADABLE = 'The provider sent no message, so that the conversation was not compacted.'

/** Returns the writer of the items of a compaction; nothing for any other request. */
export function outputOf(request: ClientRequest): Pick<ResponseOptions, 'createOutput'> {
  const { kind, seal } = compactingOf(request)
  return kind === undefined || seal === undefined
    ? {}
    : { createOutput: (options) => new CompactionOutput(options, seal) }
}

/** Renders the message with the summary as the reply of a compaction: its response, or the items of its window. */
export function renderCompaction(
  { status, headers, bytes, usage }: BytesReply,
  request: ClientRequest,
  options: ResponseOptions,
): BytesReply {
  const { kind, seal = String } = compactingOf(request)
  let output: CompactionOutput | undefined
  const response = toResponse(bytes, request.document, {
    ...options,
    createOutput(given) {
      output = new CompactionOutput(given, seal)
      return output
    },
  })
  const kept = { usage, dialect: RESPONSES_REPLIES }
  if (response === undefined) {
    const error = chatError('invalid_request_error', output?.fault ?? UNREADABLE, 'invalid_prompt')
    return new BytesReply(UNUSABLE_STATUS, headers, Buffer.from(JSON.stringify({ type: 'error', error })), kept)
  }
  const body = kind === 'window' ? toCompactedWindow(response, request.document) : response
  return new BytesReply(status, headers, body, kept)
}
