import type { PipelineContext } from './context.ts'

/** Koa's own members for a reply. No setter undoes one: a body of null is a reply too, with status 204. */
interface KoaAnswer {
  _body?: unknown
  _explicitStatus?: boolean | undefined
  _explicitNullBody?: boolean | undefined
}

/** Saves the parts of a context that a step may change. Returns the function that restores them. */
export function saved(ctx: PipelineContext): () => void {
  const restoreAnswer = savedAnswer(ctx)
  const headersBefore = ctx.res.getHeaders()
  return () => {
    restoreAnswer()
    for (const name of ctx.res.getHeaderNames()) if (!(name in headersBefore)) ctx.res.removeHeader(name)
    for (const [name, value] of Object.entries(headersBefore)) if (value !== undefined) ctx.res.setHeader(name, value)
  }
}

/** Saves the same without the headers, for a step that has called `next()`. */
export function savedAnswer(ctx: PipelineContext): () => void {
  const restoreExchange = ctx.state.exchange.save()
  const { statusCode } = ctx.res
  // Koa's own members, which its types do not declare.
  const response = ctx.response as unknown as KoaAnswer
  const { _body, _explicitStatus, _explicitNullBody } = response
  return () => {
    restoreExchange()
    // Ends a stream that was to be the body.
    if (ctx.body !== _body) ctx.body = null
    Object.assign(response, { _body, _explicitStatus, _explicitNullBody })
    ctx.res.statusCode = statusCode
  }
}
