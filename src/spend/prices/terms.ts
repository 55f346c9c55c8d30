import { toFactor } from './sheet.ts'

/**
 * Factors of terms on the list price, where a provider documents them: the catalogue has list prices alone. All
 * apply to tokens, none to fees. Where a provider's factor varies by model, it is the highest.
 */
interface Terms {
  readonly model: RegExp
  readonly factors: Readonly<Record<string, number>>
}

/**
 * Claude API, "Pricing": batch processing is half, `inference_geo: us` 1.1 times (unavailable for models before Opus 4.6);
 * fast mode twice the price, six times on Opus 4.6 and 4.7. A priority tier is bought by contract, so it stays at
 * the list price.
 */
const ANTHROPIC: readonly Terms[] = [
  { model: /claude-opus-4-[67]/, factors: { batch: 0.5, us: 1.1, fast: 6 } },
  { model: /^/, factors: { batch: 0.5, us: 1.1, fast: 2 } },
]

/** OpenAI API, "Pricing": batch and flex are half. Priority, now also named fast, is 1.75 to 2 times, 2.5 on GPT-5.5. */
const OPENAI: readonly Terms[] = [
  { model: /^gpt-5\.5/, factors: { batch: 0.5, flex: 0.5, priority: 2.5, fast: 2.5 } },
  { model: /^/, factors: { batch: 0.5, flex: 0.5, priority: 2, fast: 2 } },
]

/** Gemini API, "Optimization": batch and flex are half, priority 1.75 to 2 times. Claude on Vertex AI: as by Anthropic. */
const GOOGLE: readonly Terms[] = [
  { model: /claude-opus-4-[67]/, factors: { batch: 0.5, fast: 6 } },
  { model: /claude/, factors: { batch: 0.5, fast: 2 } },
  { model: /^/, factors: { batch: 0.5, flex: 0.5, priority: 2 } },
]

/** Amazon Bedrock, "Pricing": batch and flex are half, priority is 1.75 times. */
const AWS: readonly Terms[] = [{ model: /^/, factors: { batch: 0.5, flex: 0.5, priority: 1.75 } }]

const TERMS: ReadonlyMap<string, readonly Terms[]> = new Map([
  ['anthropic', ANTHROPIC],
  ['openai', OPENAI],
  ['google', GOOGLE],
  ['aws', AWS],
])

/** Highest factors of an unknown model. Discounts are not assumed. */
export const CEILING_FACTORS = toFactors({ us: 1.1, fast: 6, priority: 2.5 })

/** Returns the documented factors of a model, by term; provider and model under the catalogue's names. */
export function documentedFactors(provider: string, model: string): ReadonlyMap<string, bigint> {
  const found = TERMS.get(provider)?.find((terms) => terms.model.test(model))
  return toFactors(found?.factors ?? {})
}

/** Converts factors to millionths. */
export function toFactors(factors: Readonly<Record<string, number>>): ReadonlyMap<string, bigint> {
  return new Map(Object.entries(factors).map(([word, factor]) => [word, toFactor(factor)]))
}
