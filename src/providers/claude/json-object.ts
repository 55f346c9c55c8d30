import type { Edit } from '../../core/json/splice.ts'
import type { RequestDocument } from '../../core/request/request.ts'

/**
 * Instruction for `response_format: {"type":"json_object"}` of chat completions. This API constrains a reply only by a
 * schema, which must name all members; a forced tool would exclude thinking and the client's own tools. So an instruction
 * is added, which OpenAI demands of clients as well. It comes last in `system`, where it invalidates no cached prefix.
 */
const INSTRUCTION =
  'Answer with one JSON object and nothing else: the first character of the answer is `{` and the last is `}`. No code fence, no text before or after it.'

interface OutputConfig {
  readonly format?: { readonly type?: string }
  readonly effort?: unknown
}

/** Returns edits that replace the format by the instruction; none where the request has no such format. */
export function jsonObjectEdits(request: RequestDocument): Edit[] {
  // Safe: a canonical request that the gateway created.
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
