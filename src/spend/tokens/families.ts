import type { ImageLimits } from './attachments.ts'
import { anthropicRule, type ImageRule, openAiRule, otherRule } from './image-rules.ts'

/** Models with the same tokenizer. */
export interface ModelFamily {
  readonly name: string
  /** Initial tokens per token of o200k. */
  readonly startFactor: number
  readonly image: ImageRule
  /** True when the provider adds tokens for request options: known of Anthropic only. */
  readonly hasHiddenPrompts: boolean
  /**
   * True when the thinking of turns before the user's last text is certainly left out: for Claude up to Sonnet and Haiku 4.5
   * and Opus 4.1 (Claude API, "Extended thinking": later models keep it).
   */
  readonly dropsEarlierThinking: boolean
  /** True when deferred tools are left out until the model finds them; behind another API all are sent. */
  readonly defersTools: boolean
}

const OLD_CLAUDE: ImageLimits = { longEdge: 1568, tokens: 1568 }
const NEW_CLAUDE: ImageLimits = { longEdge: 2576, tokens: 4784 }

/** Traits of Anthropic's models. */
const ANTHROPIC = { hasHiddenPrompts: true, defersTools: true }
const OTHERS = { hasHiddenPrompts: false, dropsEarlierThinking: false, defersTools: false }

/** Claude up to 4.5, except Opus 4.5. */
const CLAUDE: ModelFamily = {
  name: 'claude',
  startFactor: 1.2,
  image: anthropicRule(OLD_CLAUDE),
  dropsEarlierThinking: true,
  ...ANTHROPIC,
}
/** Claude Opus 4.5, and 4.6: the earlier tokenizer, with its learned factor. */
const CLAUDE_4_6: ModelFamily = { ...CLAUDE, dropsEarlierThinking: false }
/** Claude 4.7 and later has another tokenizer, with smaller tokens. */
const CLAUDE_4_7: ModelFamily = {
  name: 'claude-4.7',
  startFactor: 1.5,
  image: anthropicRule(NEW_CLAUDE),
  dropsEarlierThinking: false,
  ...ANTHROPIC,
}
const O200K: ModelFamily = { name: 'o200k', startFactor: 1, image: openAiRule(''), ...OTHERS }
const OTHER: ModelFamily = { name: 'other', startFactor: 1.05, image: otherRule, ...OTHERS }

/** All tokenizers. */
export const FAMILIES: readonly ModelFamily[] = [CLAUDE, CLAUDE_4_7, O200K, OTHER]

const O200K_MODEL = /(^|[/.])(gpt-(4o|4\.\d|[5-9]|oss)|chatgpt-|o[1-9](-|$)|codex-)/
/**
 * `claude-opus-4-7`, `claude-3-5-sonnet-…`, `anthropic.claude-sonnet-5-v1:0`, `claude-opus-4.8`; but the digits of a
 * date, as in `claude-opus-4-20250514`, are no version.
 */
const CLAUDE_VERSION = /claude-(?:v|[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/
const FINE_VERSION = 4.07
const KEEPING_VERSION = 4.05

/** Returns the family of a model, by its provider's name; a name with a slash is a model behind another API, which is sent everything. */
export function familyOf(model: string): ModelFamily {
  const name = model.toLowerCase()
  if (name.includes('claude')) {
    const family = claudeFamily(name)
    return name.includes('/') ? { ...family, dropsEarlierThinking: false, defersTools: false } : family
  }
  return O200K_MODEL.test(name) ? { ...O200K, image: openAiRule(name) } : OTHER
}

/** Returns a Claude family; a name without a version counts as the newest model. */
function claudeFamily(name: string): ModelFamily {
  const [, major, minor = '0'] = CLAUDE_VERSION.exec(name) ?? []
  if (major === undefined) return CLAUDE_4_7
  const version = Number(major) + Number(minor) / 100
  if (version >= FINE_VERSION) return CLAUDE_4_7
  return version > KEEPING_VERSION || (version === KEEPING_VERSION && name.includes('opus')) ? CLAUDE_4_6 : CLAUDE
}
