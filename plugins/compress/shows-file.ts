import type { ToolCall } from './tool-results.ts'

const READER = /(?:^|[^a-z])(?:read|view|cat|open|nl)(?![a-z])/i
const SHELL_READER = /(?:^|[;&(])\s*(?:sudo\s+)?(?:cat|head|tail|sed|nl|less|more|bat|open)\s/

/**
 * Whether a tool shows a file as it is. An agent edits files by their exact text, so that layout which means nothing
 * anywhere else means something here.
 */
export function showsFile({ name, input }: Pick<ToolCall, 'name' | 'input'>): boolean {
  return READER.test(name) || (typeof input.command === 'string' && SHELL_READER.test(input.command))
}
