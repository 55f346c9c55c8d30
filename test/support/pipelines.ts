/*
 * DESIGN. Faults of money lie between plugins: a cache that answers, a guard that holds, a payment that is given back.
 * So suites about money name no pipeline of their own. They run through the default one, and through the full one in
 * `test/full-pipeline` and with `npm run drill:pipelines`, which sets TURNPIKE_DRILL_PIPELINE.
 */

/** The default of `pipeline.default`. */
export const DEFAULT_PIPELINE = 'exact-cache,cost-guard'

/** Every plugin of the package. */
export const FULL_PIPELINE =
  'redact,exact-cache,semantic-cache,loop-guard,prune-tools,preserve,compress,patterns,prompt-cache,cost-guard'

/** The pipeline of this process's suites about money. */
export const PIPELINE = pipelineNamed(process.env.TURNPIKE_DRILL_PIPELINE)

/** Returns the pipeline with these options of `cost-guard`. */
export function guardedBy(options: string): string {
  return PIPELINE.replace(/cost-guard$/, `cost-guard?${options}`)
}

function pipelineNamed(name: string | undefined): string {
  if (name === undefined) return DEFAULT_PIPELINE
  if (name === 'full') return FULL_PIPELINE
  throw new Error(`Expected TURNPIKE_DRILL_PIPELINE to be \`full\`, got \`${name}\``)
}
