import { hash } from 'node:crypto'
import type { Context } from 'koa'
import type { Target } from '../../core/request/exchange.ts'
import { toCodexCatalogue } from '../../dialects/responses/codex/catalogue.ts'
import type { CataloguedModel } from '../../providers/model-catalogue.ts'

/** Facts about models that Codex's catalogue has beside those of the list. */
export interface CodexModelFacts {
  /** Returns the first target of a model; `undefined` for an invalid name. */
  readonly targetOf: (id: string) => Target | undefined
  /** Returns the context window of a model, in tokens; `undefined` where it is not known. */
  readonly contextWindowOf: (target: Target) => number | undefined
  /** Output limit of requests without one, in tokens. */
  readonly outputTokens: number
}

/** Members of providers' own entries with the context window: Anthropic, OpenRouter and Together, Groq, vLLM, Gemini. */
const WINDOW_MEMBERS = ['max_input_tokens', 'context_length', 'context_window', 'max_model_len', 'inputTokenLimit']

/** Sends the models in the form of Codex's catalogue; 304 where the client has it already. */
export function sendCodexModels(ctx: Context, models: readonly CataloguedModel[], facts: CodexModelFacts): void {
  const catalogue = toCodexCatalogue(
    models.map(({ id, displayName = id, fields }) => {
      const target = facts.targetOf(id)
      return {
        id,
        displayName,
        model: target?.model ?? id,
        contextWindow: windowIn(fields) ?? (target && facts.contextWindowOf(target)),
        outputTokens: facts.outputTokens,
      }
    }),
  )
  const body = JSON.stringify(catalogue)
  const etag = `"${hash('sha256', body, 'base64url')}"`
  ctx.set('etag', etag)
  ctx.type = 'application/json'
  if (ctx.get('if-none-match') === etag) ctx.status = 304
  else ctx.body = body
}

function windowIn(fields: Readonly<Record<string, unknown>> = {}): number | undefined {
  const tokens = WINDOW_MEMBERS.map((name) => fields[name]).find(
    (value) => Number.isSafeInteger(value) && Number(value) > 0,
  )
  return tokens === undefined ? undefined : Number(tokens)
}
