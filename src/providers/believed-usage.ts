import { answererOf } from '../core/money/prices.ts'
import type { TokenCounter } from '../core/ports/token-counter.ts'
import type { Usage } from '../core/reply/usage.ts'
import type { Shown, UsageCheck } from '../core/reply/usage-check.ts'
import { MOST_LETTERS } from '../core/reply/written-text.ts'
import type { Exchange } from '../core/request/exchange.ts'
import { namedModels } from '../core/request/named-models.ts'

/**
 * Checks the usage that a provider reports. It is accepted to the token unless it is impossible: no input tokens at all, or
 * fewer output tokens than the reply's text has. Those counts are replaced by the gateway's own. If the body names several
 * models, the usage counts for the model that the reply names.
 */
export function usageCheckOf(exchange: Exchange, tokens: TokenCounter): UsageCheck {
  const { client, targets } = exchange
  return (reported, shown) => {
    if (reported === undefined) return undefined
    const answered = answererOf(exchange) ?? targets[0]
    const model = answered?.model ?? ''
    const named = namedModels(client.document)
    const servedModel = named.length === 0 ? undefined : servedOf(shown.model, { asked: model, named })
    const usage = servedModel === undefined ? reported : { ...reported, servedModel }
    const output = outputTokens(reported, shown)
    const input = inputTokens(reported, () => tokens.inputTokens(client.document, model, client.dialect.name))
    if (output === reported.outputTokens && input === reported.inputTokens) return usage
    return { ...usage, inputTokens: input, outputTokens: output, isCounted: true }
  }
}

function outputTokens({ outputTokens: reported }: Usage, shown: Shown): number {
  // Honest counts of JSON replies are far above this bound, so their text is not examined.
  if (shown.mostBytes !== undefined && shown.mostBytes <= reported * MOST_LETTERS) return reported
  const { text } = shown
  return reported < text.leastTokens ? Math.max(reported, text.likelyTokens) : reported
}

/** Sums the input tokens; a request has at least one, read from the cache or not. */
function inputTokens({ inputTokens, cacheReadInputTokens, cacheCreationInputTokens }: Usage, count: () => number) {
  return inputTokens + cacheReadInputTokens + cacheCreationInputTokens === 0 ? count() : inputTokens
}

/** A version suffix of a model's name, as in `gpt-4o-2024-08-06`. */
const VERSION = /^[-@:]\d/

/** Returns the model that replied, if it is not the requested one: from the body, else from the target. */
function servedOf(
  reported: string | undefined,
  { asked, named }: { asked: string; named: readonly string[] },
): string | undefined {
  if (reported === undefined) return undefined
  const isThis = (name: string) =>
    reported === name || (reported.startsWith(name) && VERSION.test(reported.slice(name.length)))
  if (isThis(asked)) return undefined
  return named.find(isThis) ?? reported
}
