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
/** An expression that takes long to compile is checked where it is searched for, as it may be a caller's. */
const pattern = sourceText.refine((source) => !isQuicklyCompiled(source) || faultOf(source) === undefined, {
  error: ({ input }) => faultOf(String(input)) ?? '',
})
/** The operator's own are parsed again with each pipeline that callers write. */
const faults = new LRUCache<string, { readonly fault: string | undefined }>({
  max: 2 * MOST_ITEMS,
  memoMethod: (source) => ({ fault: faultOf(source) }),
})
const operatorsPattern = sourceText.refine((source) => faults.memo(source).fault === undefined, {
  error: ({ input }) => faults.memo(String(input)).fault ?? '',
})

/** What a caller can set, in the pipeline string or in `x-svc-preserve`. */
const wishes = {
  tools: tools
    .default([])
    .describe(
      'Tools whose results stay as they are; a trailing `*` stands for any rest. A list, or a text with commas. For results that are copied, signed or compared.',
    ),
  ranges: ranges
    .default([])
    .describe(
      'Messages that stay as they are, counted from 0: `0-3`, `7`, `12-` for all from there on. A list, or a text with commas.',
    ),
  pattern: pattern
    .optional()
    .describe(
      'A regular expression in RE2’s syntax, without lookaround and back references: what it matches in texts of users and in results of tools stays as it is. It may take 250 ms of CPU a request, and all of a key together half a second at once and a fiftieth of the time in the long run; beyond it requests are 429. All callers together may use two seconds at once and half of one CPU in the long run, in a thread of their own; a search that waits longer than 5 s is 503.',
    ),
  last_turns: z
    .int()
    .min(0)
    .max(1000)
    .default(0)
    .describe(
      'How many of the last turns stay as they are, from a message of the user on to all that follow. Where the turn ends, the provider’s cache of it is written anew: with 0 nothing ever is.',
    ),
}

/** What an operator can set. */
export const options = z.strictObject({
  pins: z
    .boolean()
    .default(true)
    .describe('Whether what stands between `<keep>` and `</keep>` in a text of a user or a tool stays as it is.'),
  ...wishes,
  patterns: z
    .array(operatorsPattern)
    .max(MOST_ITEMS)
    .default([])
    .describe('Further regular expressions, like `pattern`, which callers cannot take away.'),
  report: z
    .union([z.boolean(), z.literal(0), z.literal(1)])
    .default(false)
    .describe(
      'Whether every later edit is checked: what was declared must still be there, byte for byte. `x-svc-preserve` tells how many texts were.',
    ),
  violation: z
    .enum(['restore', 'refuse'])
    .default('restore')
    .describe(
      'What happens, with `report`, to an edit that does not keep them: the module that made it is passed over as if it were not there (`restore`), or the request is refused with 503 (`refuse`).',
    ),
})

/** The options, parsed. */
export type PreserveOptions = z.output<typeof options>

/** What the header `x-svc-preserve` may hold. */
export const headerSchema = z.strictObject(wishes)

/** The items of a list, or of a text with commas. */
export function itemsOf(list: string | readonly string[]): string[] {
  const items = typeof list === 'string' ? list.split(',') : list
  return items.map((item) => item.trim()).filter((item) => item !== '')
}
