/** Differences between Gemini models in the requests that they accept. */
export interface ModelTraits {
  /** 2.5, 3, 3.1 and so on; 0 for a model that is not a known Gemini, such as Gemma. */
  readonly generation: number
  /** Thinking is controlled by a level, and signatures are checked: generation 3 and later. */
  readonly hasThinkingLevels: boolean
  /** Thinking is controlled by a budget in tokens; the largest that the model accepts. `undefined`: no budget. */
  readonly maxThinkingTokens: number | undefined
  /** A budget of 0 turns thinking off. */
  readonly canStopThinking: boolean
  /** The level `MEDIUM` exists; the first model of generation 3 has `LOW` and `HIGH` alone. */
  readonly hasMediumLevel: boolean
}

const GENERATION = /gemini-(\d+(?:\.\d+)?)/
/** Names like `gemini-flash-latest` denote the newest model, so they count as the newest generation. */
const LATEST = /gemini-[a-z-]*latest/
const LEVELS_FROM = 3
const BUDGETS_FROM = 2.5
const MAX_PRO_TOKENS = 32_768
const MAX_FLASH_TOKENS = 24_576

/** Reads a model's traits from its name. Source: Gemini API, "Thinking", tables of budgets and levels. */
export function traitsOf(model: string): ModelTraits {
  const generation = Number(GENERATION.exec(model)?.[1] ?? (LATEST.test(model) ? LEVELS_FROM : 0))
  const hasThinkingLevels = generation >= LEVELS_FROM
  const hasBudgets = generation >= BUDGETS_FROM && !hasThinkingLevels
  const isPro = model.includes('pro')
  return {
    generation,
    hasThinkingLevels,
    maxThinkingTokens: hasBudgets ? (isPro ? MAX_PRO_TOKENS : MAX_FLASH_TOKENS) : undefined,
    canStopThinking: hasBudgets && !isPro,
    hasMediumLevel: hasThinkingLevels && !(isPro && generation === LEVELS_FROM),
  }
}
