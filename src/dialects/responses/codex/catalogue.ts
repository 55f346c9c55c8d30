/**
 * DESIGN: models in the form of Codex's catalogue.
 *
 * Codex reads `{ models: […] }` from `model_catalog_url`, with `client_version`, or from a file (`model_catalog_json`), in
 * the place of its own list: a window, efforts and tools for each model. It refuses the whole list for one entry without a
 * member that it requires, or with an unknown value, and one of more than 1 MB. The members are those of Codex 0.169.0.
 */
import type { JsonObject } from '../../../core/json/json-value.ts'
import { claudeTraitsOf } from '../../chat/request/claude-traits.ts'
import { CODEX_INSTRUCTIONS } from './instructions.ts'

/** A model of the catalogue. */
export interface CodexModel {
  /** Name under which clients request it. */
  readonly id: string
  readonly displayName: string
  /** The provider's own name of it. */
  readonly model: string
  /** In tokens; `undefined` where it is not known. */
  readonly contextWindow: number | undefined
  /** Tokens of the window that a reply may need. */
  readonly outputTokens: number
}

/** Entries of 2.5 KB each, with which the list stays below Codex's limit. */
const MOST_MODELS = 256
/** Models that hold no conversations. */
const OTHER_KINDS =
  /embed|whisper|(?:^|[-/])tts|dall-e|moderation|realtime|transcri|-image|imagen|(?:^|[-/])(?:sora|veo|davinci|babbage|aqa)|audio|rerank|guard/i
const MOST_OUTPUT_SHARE = 0.5
const COMPACT_SHARE = 0.9
const TRUNCATED_TOKENS = 10_000

const LOW = { effort: 'low', description: 'Fast answers with little reasoning' }
const MEDIUM = { effort: 'medium', description: 'Balances speed and depth of reasoning' }
const HIGH = { effort: 'high', description: 'Deeper reasoning for complex problems' }
const XHIGH = { effort: 'xhigh', description: 'The deepest reasoning, for the hardest problems' }
const USUAL = [LOW, MEDIUM, HIGH]
/** Models other than Claude that reason, and those among them with the highest effort. */
const REASONS = /(?:^|\/)(?:o[1-9](?![\w.])|gpt-(?!5-chat)[5-9]|gemini-(?!1\.|2\.0)|grok-[4-9]|deepseek-r|qwen3)/i
const REASONS_MOST = /(?:^|\/)gpt-(?:5\.[2-9]|[6-9])/i

/** Returns the catalogue of these models; those that hold no conversations are left out, and those after the first 256. */
export function toCodexCatalogue(models: readonly CodexModel[]): { models: JsonObject[] } {
  const usable = models.filter(({ id }) => !OTHER_KINDS.test(id)).slice(0, MOST_MODELS)
  return { models: usable.map(entryOf) }
}

function entryOf({ id, displayName, model, contextWindow, outputTokens }: CodexModel, index: number): JsonObject {
  const efforts = effortsOf(model)
  return {
    slug: id,
    display_name: displayName,
    description: `${displayName}, through Turnpike`,
    ...(efforts.length > 0 && { default_reasoning_level: MEDIUM.effort }),
    supported_reasoning_levels: efforts,
    shell_type: 'unified_exec',
    visibility: 'list',
    supported_in_api: true,
    priority: index,
    availability_nux: null,
    upgrade: null,
    base_instructions: CODEX_INSTRUCTIONS,
    supports_reasoning_summaries: efforts.length > 0,
    support_verbosity: false,
    default_verbosity: null,
    apply_patch_tool_type: 'freeform',
    truncation_policy: { mode: 'tokens', limit: TRUNCATED_TOKENS },
    supports_parallel_tool_calls: true,
    supports_search_tool: false,
    use_responses_lite: false,
    experimental_supported_tools: [],
    input_modalities: ['text', 'image'],
    ...(contextWindow !== undefined && windowOf(contextWindow, outputTokens)),
  }
}

/** Returns the window, and the length of a conversation at which it is compacted: the reply has to fit behind it. */
function windowOf(contextWindow: number, outputTokens: number): JsonObject {
  const reserved = Math.min(outputTokens, Math.floor(contextWindow * MOST_OUTPUT_SHARE))
  return {
    context_window: contextWindow,
    max_context_window: contextWindow,
    auto_compact_token_limit: Math.min(Math.floor(contextWindow * COMPACT_SHARE), contextWindow - reserved),
  }
}

function effortsOf(model: string): readonly JsonObject[] {
  const claude = claudeTraitsOf(model)
  if (claude !== undefined) {
    if (claude.thinking === 'none') return []
    return claude.takesXhigh ? [...USUAL, XHIGH] : USUAL
  }
  if (!REASONS.test(model)) return []
  return REASONS_MOST.test(model) ? [...USUAL, XHIGH] : USUAL
}
