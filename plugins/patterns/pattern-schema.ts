import { z } from 'turnpike/plugin'
import { explain, suggest } from 'turnpike/plugin/commands'

/** Returns a schema for a value or a list of alternatives. */
function oneOrMore<Item extends z.ZodType>(item: Item) {
  return z.union([z.array(item).min(1).max(200), item]).transform((given) => (Array.isArray(given) ? given : [given]))
}

const text = z.string().min(1).max(2000)
const globs = oneOrMore(text)
const headerName = z
  .string()
  .toLowerCase()
  .regex(/^[a-z0-9-]{1,64}$/)

/** Conditions on texts and circumstances; all given keys must hold. */
export interface ConditionSource {
  any?: ConditionSource[] | undefined
  regex?: string[] | undefined
  keywords?: string[] | undefined
  examples?: string[] | undefined
  min_score?: number | undefined
  margin?: number | undefined
  where?: 'last_user' | 'first_user' | 'any_user' | 'system' | undefined
  models?: string[] | undefined
  tools_any?: string[] | undefined
  headers?: Record<string, string[]> | undefined
  metadata?: Record<string, string[]> | undefined
  min_turn?: number | undefined
}

const condition = z.strictObject({
  get any(): z.ZodOptional<z.ZodArray<z.ZodType<ConditionSource>>> {
    return z.array(condition).min(1).max(50).optional()
  },
  regex: oneOrMore(text).optional(),
  keywords: oneOrMore(text).optional(),
  examples: oneOrMore(text).optional(),
  min_score: z.number().min(0).max(1).optional(),
  margin: z.number().min(0).max(10).optional(),
  where: z.enum(['last_user', 'first_user', 'any_user', 'system']).optional(),
  models: globs.optional(),
  tools_any: globs.optional(),
  headers: z.record(headerName, globs).optional(),
  metadata: z.record(text, globs).optional(),
  min_turn: z.int().min(0).optional(),
})

const SECRET_HEADERS = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key', 'x-provider-key']

const variable = z.union([
  z.string().transform((value) => ({ from: undefined, default: value })),
  z.strictObject({
    from: z
      .string()
      .regex(/^(header:[a-zA-Z0-9-]{1,64}|config:[a-zA-Z0-9_-]{1,64})$/, 'expected `header:<name>` or `config:<name>`')
      .refine(
        (from) => !SECRET_HEADERS.includes(from.replace('header:', '').toLowerCase()),
        'this header holds a secret',
      ),
    default: z.string().max(1000).optional(),
  }),
])

/** Position of a text, as configured. */
export type PositionSource = 'auto' | 'system-append' | 'user-append' | 'user-prepend'

const frontMatter = z
  .strictObject({
    name: z.string().optional(),
    description: z.string().max(1024).default(''),
    version: z.union([z.string(), z.number()]).transform(String).default('1'),
    enabled: z.boolean().default(true),
    priority: z.number().min(-1000).max(1000).default(50),
    position: z.enum(['auto', 'system-append', 'user-append', 'user-prepend']).default('auto'),
    scope: z.enum(['turn', 'conversation']).default('turn'),
    max_tokens: z.int().min(1).optional(),
    exclusive_group: z.string().min(1).max(64).optional(),
    match: condition.optional(),
    not: condition.optional(),
    vars: z.record(z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/), variable).default({}),
    tests: z
      .strictObject({ should: oneOrMore(text).default([]), should_not: oneOrMore(text).default([]) })
      .default({ should: [], should_not: [] }),
  })
  .refine(({ position, scope }) => position !== 'system-append' || scope === 'conversation', {
    path: ['position'],
    message: '`system-append` needs `scope: conversation`: a system text that comes and goes costs the prompt cache',
  })
  .refine(({ match, tests }) => match !== undefined || tests.should.length + tests.should_not.length === 0, {
    path: ['tests'],
    message: 'expected a `match` to test',
  })

/** Front matter of a PATTERN.md, with its defaults. */
export type FrontMatter = z.output<typeof frontMatter>

/** Schema of a SKILL.md: only members of the format itself are read. */
const skill = z.looseObject({ description: z.string().default('') })

/** Parses the front matter of a PATTERN.md. Throws an `Error` that names the invalid member and the expected value. */
export function parseFrontMatter(value: unknown): FrontMatter {
  const parsed = frontMatter.safeParse(value)
  if (parsed.success) return parsed.data
  const unknown = parsed.error.issues.find((issue) => issue.code === 'unrecognized_keys')
  if (unknown === undefined) throw new Error(explain(parsed.error))
  const [key = ''] = unknown.keys
  const names = unknown.path.length === 0 ? Object.keys(frontMatter.shape) : Object.keys(condition.shape)
  throw new Error(`unknown member \`${[...unknown.path, key].join('.')}\`.${suggest(key, names)}`)
}

/** Returns the front matter of a pattern that is used only when requested. */
export function manualFrontMatter(given: Partial<FrontMatter>): FrontMatter {
  return { ...frontMatter.parse({}), ...given }
}

/** Parses the front matter of a SKILL.md: a pattern for a whole conversation, used when requested. */
export function parseSkill(value: unknown): FrontMatter {
  const parsed = skill.safeParse(value)
  if (!parsed.success) throw new Error(explain(parsed.error))
  return manualFrontMatter({ description: parsed.data.description, scope: 'conversation' })
}
