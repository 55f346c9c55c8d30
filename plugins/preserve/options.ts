import { LRUCache } from 'lru-cache'
import { z } from 'turnpike/plugin'
import { faultOf, isQuicklyCompiled } from './expression.ts'

const MOST_ITEMS = 50
const LONGEST_ITEM = 200
const LONGEST_PATTERN = 500

const RANGE = String.raw`\d{1,6}(?:-\d{0,6})?`
const tools = z.union([
  z.array(z.string().min(1).max(LONGEST_ITEM)).max(MOST_ITEMS),
  z
    .string()
    .min(1)
    .max(MOST_ITEMS * LONGEST_ITEM),
])
const ranges = z.union([
  z.array(z.string().regex(new RegExp(`^${RANGE}$`))).max(MOST_ITEMS),
  z.string().regex(new RegExp(`^${RANGE}(?: *, *${RANGE}){0,${MOST_ITEMS - 1}}$`)),
])
const sourceText = z.string().min(1).max(LONGEST_PATTERN)
/** Pattern schema: an expression that compiles slowly may be a caller's, so it is checked when it is searched for. */
const pattern = sourceText.refine((source) => !isQuicklyCompiled(source) || faultOf(source) === undefined, {
  error: ({ input }) => faultOf(String(input)) ?? '',
})
/** Memo of faults: the operator's own expressions are parsed again with each pipeline that callers send. */
const faults = new LRUCache<string, { readonly fault: string | undefined }>({
  max: 2 * MOST_ITEMS,
  memoMethod: (source) => ({ fault: faultOf(source) }),
})
const operatorsPattern = sourceText.refine((source) => faults.memo(source).fault === undefined, {
  error: ({ input }) => faults.memo(String(input)).fault ?? '',
})

/** Options of a caller, in the pipeline string or in `x-svc-preserve`. */
const callerOptions = {
  tools: tools
    .default([])
    .describe(
      'Tools whose results stay unchanged; a trailing `*` matches any rest. A list, or comma-separated text. For results that are copied, signed or compared.',
    ),
  ranges: ranges
    .default([])
    .describe(
      'Messages that stay unchanged, counted from 0: `0-3`, `7`, `12-` for all from there on. A list, or comma-separated text.',
    ),
  pattern: pattern
    .optional()
    .describe(
      'A regular expression in RE2’s syntax, without lookaround and back-references: its matches in user texts and tool results stay unchanged. CPU limits: 250 ms per request; per key half a second at once and a fiftieth of the time in the long run, beyond which requests are 429; for all callers, in a thread of their own, two seconds at once and half of one CPU. A search that waits longer than 5 s is 503.',
    ),
  last_turns: z
    .int()
    .min(0)
    .max(1000)
    .default(0)
    .describe(
      'How many of the last turns stay unchanged; a turn is a user message with all that follow it. Each turn that leaves the window is written to the provider’s cache again; with 0 none is.',
    ),
}

/** Options of the operator. */
export const options = z.strictObject({
  pins: z
    .boolean()
    .default(true)
    .describe('Whether text between `<keep>` and `</keep>`, in user messages and tool results, stays unchanged.'),
  ...callerOptions,
  patterns: z
    .array(operatorsPattern)
    .max(MOST_ITEMS)
    .default([])
    .describe('Further regular expressions, like `pattern`, which callers cannot remove.'),
  report: z
    .union([z.boolean(), z.literal(0), z.literal(1)])
    .default(false)
    .describe(
      'Whether to check every later edit: protected texts must survive byte for byte. `x-svc-preserve` reports how many there are.',
    ),
  violation: z
    .enum(['restore', 'refuse'])
    .default('restore')
    .describe(
      'With `report`, the effect of an edit that loses a protected text: its plugin is bypassed (`restore`), or the request is refused with 503 (`refuse`).',
    ),
})

/** Parsed options. */
export type PreserveOptions = z.output<typeof options>

/** Schema of the header `x-svc-preserve`. */
export const headerSchema = z.strictObject(callerOptions)

/** Returns the items of a list, or of a text with commas. */
export function itemsOf(list: string | readonly string[]): string[] {
  const items = typeof list === 'string' ? list.split(',') : list
  return items.map((item) => item.trim()).filter((item) => item !== '')
}
