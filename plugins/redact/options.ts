import { z } from 'turnpike/plugin'
import { KINDS, type Kind } from './detect/finding.ts'
import { detectorOptions } from './detector/options.ts'
import { faultOf } from './patterns.ts'

/** Modes, from the least strict. */
export const MODES = ['observe', 'redact', 'block'] as const

/** Mode of the plugin. */
export type Mode = (typeof MODES)[number]

const DEFAULT_KINDS: Kind[] = KINDS.filter((kind) => kind !== 'host')
const TEAM_ID = /^team_[\w-]{1,60}$/
const MOST_TEAMS = 200
const MOST_WORDS = 10_000
const LONGEST_WORD = 200
const MOST_PATTERNS = 50
const LONGEST_PATTERN = 500
const pattern = z
  .string()
  .min(1)
  .max(LONGEST_PATTERN)
  .refine((source) => faultOf(source) === undefined, { error: ({ input }) => faultOf(String(input)) ?? '' })
const kind = z.enum(KINDS)
const kinds = z.union([
  z.array(kind).max(KINDS.length),
  z.string().refine((text) => text.split(' ').every((name) => kind.safeParse(name).success), {
    error: `expected names among ${KINDS.join(', ')}, separated by spaces`,
  }),
])

export const options = z.strictObject({
  mode: z
    .enum(MODES)
    .default('redact')
    .describe(
      'What happens to values that are found. `redact`: each is replaced by a placeholder on the way to the provider, and restored in the reply. `block`: the request is refused. `observe`: nothing changes, and the header and the trace report what would be replaced; begin with it. A caller may choose a stricter one: `observe`, `redact`, `block`.',
    ),
  kinds: kinds
    .default(DEFAULT_KINDS)
    .describe(
      'Kinds to find: `api_key`, `cloud_key`, `token`, `private_key`, `jwt`, `connection` (passwords in addresses), `secret` (random values behind a name such as `password`), `card`, `iban`, `email`, `phone`, `national_id`, `host` (addresses and internal names of hosts), `custom` (`words` and `patterns`). A list, or text with spaces. A caller may add some, not remove any.',
    ),
  teams: z
    .record(
      z.string().regex(TEAM_ID, { error: 'expected the id of a team, such as `team_01j…`' }),
      z.strictObject({ mode: z.enum(MODES).optional(), kinds: kinds.optional() }),
    )
    .refine((teams) => Object.keys(teams).length <= MOST_TEAMS, { error: `expected at most ${MOST_TEAMS} teams` })
    .default({})
    .describe(
      'A stricter `mode` and further `kinds` for the keys of a team, by its id (`turnpike team list`): `{team_…: {mode: block, kinds: [host]}}`, at most 200 teams. The strictest of these, of the options for all, and of the request counts.',
    ),
  words: z
    .array(z.string().min(2).max(LONGEST_WORD))
    .max(MOST_WORDS)
    .default([])
    .describe(
      'Texts of your own that are found as whole words, exactly, of 2 to 200 characters each: names of projects, customers, hosts.',
    ),
  patterns: z
    .array(pattern)
    .max(MOST_PATTERNS)
    .default([])
    .describe(
      'Regular expressions of your own in RE2’s syntax, without lookaround and back-references, at most 50: the format of customer numbers. Begin them with fixed letters, so that most texts need no search. A request that is too long for them (instructions times characters above 4 million) is refused.',
    ),
  detector: detectorOptions.prefault({}),
  unread: z
    .enum(['refuse', 'pass'])
    .default('refuse')
    .describe(
      'With `redact` and `block`: requests with parts that cannot be read as text (pictures, PDF, sound, files, addresses that the provider reads) are refused, or pass with a note. Choose `pass` only if such parts may leave.',
    ),
})

/** Parsed options. */
export type RedactOptions = z.output<typeof options>

/** Returns the kinds of an option. */
export function kindsOf(value: RedactOptions['kinds']): readonly Kind[] {
  return typeof value === 'string' ? z.array(kind).parse(value.split(' ')) : value
}

/** Returns the stricter of two modes. */
export function stricterMode(one: Mode, other: Mode): Mode {
  return MODES.indexOf(one) > MODES.indexOf(other) ? one : other
}
