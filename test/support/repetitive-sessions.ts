import fc from 'fast-check'
import type { Message } from '../../src/core/request/message.ts'

const LINES = 24
const block = (text: (index: number) => string) => Array.from({ length: LINES }, (_, index) => text(index))
/** Blocks that begin alike, end alike, are like themselves, or hold others. */
const BLOCKS = [
  block((index) => `export const value${index} = compute(${index * 31})`),
  block((index) =>
    index === 12 ? '✖ does thing 12, which is not right' : `✔ does thing number ${index} of this suite`,
  ),
  block((index) => `✔ does thing number ${index} of this suite`),
  block(
    (index) =>
      ['the first of two lines that come in turn', 'the second of two lines that come in turn'][index % 2] ?? '',
  ),
  block((index) => (index % 5 === 4 ? '' : `  return this.handlers[${index}](request, response)`)),
  ['total 7', '}', '', 'ok'],
]
const row = (id: number) => ({
  id,
  name: `the row that has number ${id}`,
  tags: ['a', 'b, c', '"d"'],
  at: { x: 1.5, y: [id] },
})

const blocks = fc
  .array(fc.nat(BLOCKS.length - 1), { minLength: 1, maxLength: 5 })
  .map((all) => all.flatMap((index) => BLOCKS[index] ?? []))
const list = fc
  .tuple(fc.nat(12), fc.integer({ min: 1, max: 14 }))
  .map(([from, count]) => Array.from({ length: count }, (_, index) => row(from + index)))
const text = fc.oneof(
  blocks.map((lines) => lines.join('\n')),
  fc
    .tuple(blocks, fc.nat(60), fc.boolean())
    .map(([lines, first, isPadded]) =>
      [
        '[File: a.ts]',
        ...lines.map((line, index) => `${String(first + index + 1).padStart(isPadded ? 6 : 0)}→${line}`),
        '(more below)',
      ].join('\n'),
    ),
  list.map((rows) => JSON.stringify(rows)),
  fc
    .tuple(list, list)
    .map(([some, others]) => JSON.stringify({ some, others, text: JSON.stringify(others, null, 2) }, null, 2)),
  blocks.map((lines) => JSON.stringify({ content: lines.join('\n') })),
  blocks.map((lines) => `The answer. ${lines.join('. ')}`),
)
const call = fc.constantFrom(
  { name: 'Bash', input: { command: 'npm test' } },
  { name: 'Bash', input: { command: 'npm test', description: 'again' } },
  { name: 'Bash', input: { command: `cd ${'a/long/folder/'.repeat(5)} && npm test one` } },
  { name: 'Bash', input: { command: `cd ${'a/long/folder/'.repeat(5)} && npm test two` } },
  { name: 'Read', input: { file_path: 'a.ts' } },
  { name: 'Read', input: { file_path: 'a.ts', offset: 20 } },
  { name: 'move', input: { from: 'a.ts', to: 'b.ts' } },
  { name: 'move', input: { from: 'b.ts', to: 'a.ts' } },
  { name: 'list_all', input: {} },
)
const step = fc.record({
  calls: fc.array(fc.tuple(call, fc.array(text, { minLength: 1, maxLength: 2 }), fc.boolean()), {
    minLength: 1,
    maxLength: 2,
  }),
  written: fc.option(
    blocks.map((lines) => lines.join('\n')),
    { freq: 5 },
  ),
  said: fc.option(
    blocks.map((lines) => lines.join('\n')),
    { freq: 5 },
  ),
})

/** Sessions whose results are often similar, by similar calls, some of them parallel. */
export const repetitiveSessions: fc.Arbitrary<Message[]> = fc
  .array(step, { minLength: 2, maxLength: 9 })
  .map((steps) => [
    { role: 'user', content: 'Find the fault.' },
    ...steps.flatMap(({ calls, written, said }, index): Message[] => {
      const writing =
        written === null ? [] : [{ name: 'Edit', input: { file_path: 'a.ts', old_string: 'x', new_string: written } }]
      const uses = [...calls.map(([one]) => one), ...writing].map((one, at) => ({
        type: 'tool_use' as const,
        id: `toolu_${index}_${at}`,
        ...one,
      }))
      const results = uses.map(({ id }, at) => {
        const [, texts, isError] = calls[at] ?? [undefined, ['done'], false]
        const [only] = texts
        const content =
          texts.length === 1 && only !== undefined ? only : texts.map((part) => ({ type: 'text' as const, text: part }))
        return {
          type: 'tool_result' as const,
          tool_use_id: id,
          content,
          ...(isError && index % 3 === 0 && { is_error: true }),
        }
      })
      const words = said === null ? [] : [{ type: 'text' as const, text: said }]
      return [
        { role: 'assistant', content: uses },
        { role: 'user', content: [...results, ...words] },
      ]
    }),
  ])
