import type { RequestDocument } from '../../core/request/request.ts'
import { printGiven, type Translation } from './raw-fields.ts'

/** Thinking options of a request. */
interface ThinkingOptions {
  readonly type: unknown
  readonly budgetTokens: number | undefined
  /** True when thinking is returned to the client. */
  readonly isShown: boolean
  readonly effort: Effort | undefined
}

type Effort = 'low' | 'medium' | 'high'

/** Google's own budgets in tokens for each effort (Gemini API, "OpenAI compatibility", table of `reasoning_effort`). */
const BUDGETS: Readonly<Record<Effort, number>> = { low: 1024, medium: 8192, high: 24_576 }

const EFFORTS = new Map<unknown, Effort>([
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'high'],
  ['max', 'high'],
])

/**
 * Translates `thinking` and `output_config.effort` to a raw `thinkingConfig`; `undefined` when there are none.
 * Generation 2.5 takes a budget, later ones a level, and both together are refused, so the option nearer to the model's
 * own counts, and the other is reported as dropped (Gemini API, "Thinking").
 */
export function toThinkingConfig(request: RequestDocument, translation: Translation): string | undefined {
  const options = optionsOf(request, translation)
  const config = printGiven(
    options.type === 'disabled' ? without(options, translation) : configOf(options, translation),
  )
  return config === '{}' ? undefined : config
}

function optionsOf(request: RequestDocument, { droppedFields }: Translation): ThinkingOptions {
  const thinking = recordOf(request.field('thinking'))
  const effort = recordOf(request.field('output_config')).effort ?? undefined
  const budgetTokens = thinking.type === 'enabled' ? Number(thinking.budget_tokens) : undefined
  const isOn = thinking.type === 'enabled' || thinking.type === 'adaptive'
  if (!isOn && thinking.type !== 'disabled' && thinking.type !== undefined) droppedFields.drop('thinking')
  if (effort !== undefined && !EFFORTS.has(effort)) droppedFields.drop('output_config.effort')
  return {
    type: thinking.type,
    budgetTokens: Number.isSafeInteger(budgetTokens) ? budgetTokens : undefined,
    isShown: isOn && thinking.display !== 'omitted',
    effort: EFFORTS.get(effort),
  }
}

type Config = Record<string, string | undefined>

function without({ effort }: ThinkingOptions, { traits, droppedFields }: Translation): Config {
  if (effort !== undefined) droppedFields.drop('output_config.effort')
  if (traits.canStopThinking) return { thinkingBudget: '0' }
  droppedFields.drop('thinking')
  return {}
}

function configOf(options: ThinkingOptions, translation: Translation): Config {
  const { traits, droppedFields } = translation
  const includeThoughts = options.isShown ? 'true' : undefined
  if (traits.hasThinkingLevels) return { includeThoughts, thinkingLevel: levelOf(options, translation) }
  if (traits.maxThinkingTokens !== undefined) {
    return { includeThoughts, thinkingBudget: budgetOf(options, traits.maxThinkingTokens, translation) }
  }
  if (options.type !== undefined) droppedFields.drop('thinking')
  if (options.effort !== undefined) droppedFields.drop('output_config.effort')
  return {}
}

function levelOf(
  { effort, budgetTokens }: ThinkingOptions,
  { traits, droppedFields }: Translation,
): string | undefined {
  if (effort === undefined && budgetTokens === undefined) return undefined
  if (budgetTokens !== undefined && effort !== undefined) droppedFields.drop('thinking.budget_tokens')
  const level = effort ?? effortOf(budgetTokens ?? 0)
  return level === 'medium' && !traits.hasMediumLevel ? '"HIGH"' : `"${level.toUpperCase()}"`
}

function effortOf(budgetTokens: number): Effort {
  if (budgetTokens < BUDGETS.medium) return 'low'
  return budgetTokens < BUDGETS.high ? 'medium' : 'high'
}

function budgetOf(
  { effort, budgetTokens }: ThinkingOptions,
  most: number,
  { droppedFields }: Translation,
): string | undefined {
  const wanted = budgetTokens ?? (effort && BUDGETS[effort])
  if (wanted === undefined) return undefined
  if (budgetTokens !== undefined && effort !== undefined) droppedFields.drop('output_config.effort')
  if (wanted > most) droppedFields.drop('thinking.budget_tokens')
  return String(Math.min(wanted, most))
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  // Safe: an object, whose members are unknown.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
