import type { Edit } from '../../core/json/splice.ts'
import type { RequestDocument } from '../../core/request/request.ts'

/**
 * What chat completions call `response_format: {"type":"json_object"}`. This API holds an answer to a schema only, and a
 * schema must name all members; a forced tool would exclude thinking and the client's own tools. So the model is told, as
 * OpenAI has clients tell it beside the field. It comes last in `system`, where it spoils no cached prefix.
 */
const INSTRUCTION =
  'Answer with one JSON object and nothing else: the first character of the answer is `{` and the last is `}`. No code fence, no text before or after it.'

interface OutputConfig {
  readonly format?: { readonly type?: string }
  readonly effort?: unknown
}

/** Edits that put the instruction in the place of the format; none where the request asks for no such format. */
export function jsonObjectEdits(request: RequestDocument): Edit[] {
  // Safe: a canonical request that the gateway made itself.
  const output = request.field('output_config') as OutputConfig | undefined
  if (output?.format?.type !== 'json_object') return []
  const path = output.effort === undefined ? ['output_config'] : ['output_config', 'format']
  return [{ op: 'remove', path }, withInstruction(request.field('system'))]
}

function withInstruction(system: unknown): Edit {
  if (system === undefined) return { op: 'add', path: ['system'], value: INSTRUCTION }
  const value =
    typeof system === 'string'
      ? `${system}\n\n${INSTRUCTION}`
      : [...(system as unknown[]), { type: 'text', text: INSTRUCTION }] // safe: a system is text or a list of blocks
  return { op: 'replace', path: ['system'], value }
}
