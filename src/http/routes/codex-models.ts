import { hash } from 'node:crypto'
import type { Context } from 'koa'
import { toCodexCatalogue } from '../../dialects/responses/codex/catalogue.ts'
import type { CataloguedModel } from '../../providers/model-catalogue.ts'
import { type ModelFactSources, windowIn } from './model-facts.ts'

/** Facts about models that Codex's catalogue has beside those of the list. */
export interface CodexModelFacts extends Pick<ModelFactSources, 'targetOf' | 'contextWindowOf'> {
  /** Output limit of requests without one, in tokens. */
  readonly outputTokens: number
}

/** Sends the models in the form of Codex's catalogue; 304 where the client has it already. */
export function sendCodexModels(ctx: Context, models: readonly CataloguedModel[], facts: CodexModelFacts): void {
  const catalogue = toCodexCatalogue(
    models.map(({ id, displayName = id, fields, limits = fields }) => {
      const target = facts.targetOf(id)
      return {
        id,
        displayName,
        model: target?.model ?? id,
        contextWindow: windowIn(limits) ?? (target && facts.contextWindowOf(target)),
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
