import type { Middleware } from 'koa'
import { llmsText, type OpenapiOptions, openapiDocument } from '../openapi/document.ts'

const FRESH_FOR = 'public, max-age=300'

/** `GET /openapi.json`: describes every route of this instance. */
export function openapiRoute(options: OpenapiOptions): Middleware {
  const document = JSON.stringify(openapiDocument(options))
  return function openapi(ctx) {
    ctx.set('cache-control', FRESH_FOR)
    ctx.type = 'application/json'
    ctx.body = document
  }
}

/** `GET /llms.txt`: describes this instance for language models. */
export function llmsRoute(options: OpenapiOptions): Middleware {
  const text = llmsText(options)
  return function llms(ctx) {
    ctx.set('cache-control', FRESH_FOR)
    ctx.type = 'text/plain'
    ctx.body = text
  }
}
