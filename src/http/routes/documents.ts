import type { Context, Middleware } from 'koa'
import type { OpenapiOptions } from '../openapi/document.ts'

const FRESH_FOR = 'public, max-age=300'

type Writer = typeof import('../openapi/document.ts')

/** `GET /openapi.json`: describes every route of this instance. */
export function openapiRoute(options: OpenapiOptions): Middleware {
  return documentRoute('application/json', ({ openapiDocument }) => JSON.stringify(openapiDocument(options)))
}

/** `GET /llms.txt`: describes this instance for language models. */
export function llmsRoute(options: OpenapiOptions): Middleware {
  return documentRoute('text/plain', ({ llmsText }) => llmsText(options))
}

/** Creates a route of a document, whose writer and schemas are loaded for the first request. */
function documentRoute(type: string, write: (writer: Writer) => string): Middleware {
  let document: Promise<string> | undefined
  return async function sendDocument(ctx: Context) {
    document ??= import('../openapi/document.ts').then(write)
    ctx.body = await document
    ctx.set('cache-control', FRESH_FOR)
    ctx.type = type
  }
}
