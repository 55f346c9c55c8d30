import type { ImageLimits } from './attachments.ts'

/** Models that cut a text alike. */
export interface ModelFamily {
  readonly name: string
  /** Tokens for one token of o200k, before anything is learnt. */
  readonly startFactor: number
  readonly image: ImageLimits
  /** Tokens that the provider adds for what the request asks: they are Anthropic's, and no other's are known. */
  readonly hasHiddenPrompts: boolean
}

const OLD_CLAUDE: ImageLimits = { longEdge: 1568, tokens: 1568 }
const NEW_CLAUDE: ImageLimits = { longEdge: 2576, tokens: 4784 }

/** Claude up to 4.6. */
const CLAUDE: ModelFamily = { name: 'claude', startFactor: 1.2, image: OLD_CLAUDE, hasHiddenPrompts: true }
/** Claude 4.7 and later has a tokenizer of its own, which cuts finer. */
const CLAUDE_4_7: ModelFamily = { name: 'claude-4.7', startFactor: 1.5, image: NEW_CLAUDE, hasHiddenPrompts: true }
const O200K: ModelFamily = { name: 'o200k', startFactor: 1, image: OLD_CLAUDE, hasHiddenPrompts: false }
const OTHER: ModelFamily = { name: 'other', startFactor: 1.05, image: OLD_CLAUDE, hasHiddenPrompts: false }

/** Every family there is. */
export const FAMILIES: readonly ModelFamily[] = [CLAUDE, CLAUDE_4_7, O200K, OTHER]

const O200K_MODEL = /(^|[/.])(gpt-(4o|4\.\d|[5-9]|oss)|chatgpt-|o[1-9](-|$)|codex-)/
/**
 * `claude-opus-4-7`, `claude-3-5-sonnet-…`, `anthropic.claude-sonnet-5-v1:0`, `claude-opus-4.8`; but the digits of a
 * date, as in `claude-opus-4-20250514`, are no version.
 */
const CLAUDE_VERSION = /claude-(?:v|[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/
const FINE_VERSION = 4.07

/** The family of a model, by its provider's name or with the gateway's prefix. */
export function familyOf(model: string): ModelFamily {
  const name = model.toLowerCase()
  if (name.includes('claude')) return claudeFamily(name)
  return O200K_MODEL.test(name) ? O200K : OTHER
}

/** A name without a version is taken for a new model's. */
function claudeFamily(name: string): ModelFamily {
  const [, major, minor = '0'] = CLAUDE_VERSION.exec(name) ?? []
  if (major === undefined) return CLAUDE_4_7
  return Number(major) + Number(minor) / 100 < FINE_VERSION ? CLAUDE : CLAUDE_4_7
}
