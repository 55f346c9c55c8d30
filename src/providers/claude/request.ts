import type { Exchange, Target } from '../../core/exchange.ts'
import { Losses } from '../../core/losses.ts'
import type { RequestDocument } from '../../core/request.ts'
import { claudeRequest as build } from './ask.ts'

/** Passing: use `askClaude`. */
export function claudeRequest(exchange: Exchange, target: Target): { request: RequestDocument; losses: Losses } {
  const losses = new Losses()
  return { request: build(exchange, target, losses), losses }
}
