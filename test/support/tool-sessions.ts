import fc from 'fast-check'
import type { Message } from '../../src/core/request/message.ts'

/** Lines that tools print, from code to JSON; results of them repeat each other in parts. */
const LINES = [
  ...[
    'import { readFile } from "node:fs/promises"',
    '',
    '}',
    '  return undefined',
    'const limitBytes = 64 * 1024 * 1024',
  ],
  ...['/** Reads the whole of a file, or nothing. */', 'export async function load(path: string): Promise<Buffer> {'],
  ...['\u001b[32m✔\u001b[0m reads a file (12ms)   ', 'Error: ENOENT: no such file or directory, open "/etc/none"'],
  ...['    at Object.open (node:internal/fs/promises:638:12)', 'drwxr-xr-x   2 root root   4096 Nov 21 03:56 src'],
  ...['<keep>the number is 4711</keep>', 'total 1024', '日本語のテキスト', 'x'.repeat(400)],
]

const slice = fc
  .tuple(fc.nat(LINES.length - 1), fc.integer({ min: 1, max: 12 }))
  .map(([from, count]) => LINES.slice(from, from + count))
const lines = fc.array(slice, { minLength: 1, maxLength: 8 }).map((slices) => slices.flat())
const numbered = (all: readonly string[]) => all.map((line, index) => `${String(index + 1).padStart(6)}→${line}`)
const rows = fc.array(fc.record({ id: fc.constantFrom('HAT057', 'HAT136'), price: fc.constantFrom(62, 109, 1e21) }))
const result = fc.oneof(
  lines.map((all) => all.join('\n')),
  lines.map((all) => numbered(all).join('\n')),
  rows.map((all) => JSON.stringify({ flights: all, text: JSON.stringify(all, null, 2) }, null, 2)),
)
const name = fc.constantFrom('Read', 'Bash', 'mcp__memory__recall')

/** A session: a user's words, then calls of tools with their results, each as text or as a part. */
export const toolSessions: fc.Arbitrary<Message[]> = fc
  .array(fc.tuple(name, result, fc.boolean()), { minLength: 2, maxLength: 10 })
  .map((steps) => [
    { role: 'user', content: 'Find the fault.' },
    ...steps.flatMap(([tool, text, isPart], index): Message[] => {
      const id = `toolu_${index}`
      const content = isPart ? [{ type: 'text' as const, text }] : text
      return [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id, name: tool, input: inputOf(tool, index) }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
      ]
    }),
  ])

function inputOf(tool: string, index: number): Record<string, unknown> {
  return tool === 'Read' ? { file_path: `src/${index % 2}.ts` } : { command: `make part ${index % 2}` }
}
