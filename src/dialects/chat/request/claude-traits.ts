/** Capabilities of a generation of Claude models. Sources: Anthropic's pages on thinking, on effort, and its migration guides. */
export interface ClaudeTraits {
  /** Control of thinking: none, a budget of tokens, or left to the model (`adaptive`). */
  readonly thinking: 'none' | 'budget' | 'adaptive'
  /** True when the model accepts `thinking: {type: "disabled"}`; newer ones always think. */
  readonly canStopThinking: boolean
  /** True when the model has the effort `xhigh`. */
  readonly takesXhigh: boolean
  /** True when the model can search the web by itself, where its provider has the search. */
  readonly searchesWeb: boolean
  /** True when temperature, top_p and top_k are refused unless they have their default value. */
  readonly hasFixedSampling: boolean
}

const CLAUDE = /claude/i
/** `claude-3-7-sonnet-20250219`, `claude-opus-4.6`, `claude-sonnet-4-20250514`: a number of more than two digits is a date. */
const VERSION = /claude-(?:[a-z]+-)*(\d{1,2})(?!\d)(?:[.-](\d{1,2})(?!\d))?/i
const ALWAYS_THINKING = /fable|mythos/i

/** Returns a version as one comparable number: 4.6 is 406. */
function versionOf(model: string): number {
  const [, major, minor = '0'] = VERSION.exec(model) ?? []
  // A name without a version (`claude-opus-latest`) is assumed to be the newest model.
  return major === undefined ? Number.POSITIVE_INFINITY : Number(major) * 100 + Number(minor)
}

/** Returns the traits of the Claude model of this name, from its version; `undefined` for another model's name. */
export function claudeTraitsOf(model: string): ClaudeTraits | undefined {
  if (!CLAUDE.test(model)) return undefined
  const version = versionOf(model)
  return {
    thinking: version >= 406 ? 'adaptive' : version >= 307 ? 'budget' : 'none',
    canStopThinking: version >= 307 && version < 505 && !ALWAYS_THINKING.test(model),
    takesXhigh: version >= 407,
    searchesWeb: version >= 305,
    hasFixedSampling: version >= 407,
  }
}
