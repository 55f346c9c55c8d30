import type { ContentBlock, Message } from 'turnpike/plugin'
import { estimateTokens } from './estimate.ts'

/** Approximate tokens of an image or a document. */
const ATTACHMENT_TOKENS = 1500

/** Estimates the tokens of a message. */
export function messageTokens({ content }: Message): number {
  return typeof content === 'string'
    ? estimateTokens(content)
    : content.reduce((sum, block) => sum + tokensOf(block), 0)
}

function tokensOf(block: ContentBlock): number {
  if (block.type === 'text') return estimateTokens(block.text)
  if (block.type === 'image' || block.type === 'document') return ATTACHMENT_TOKENS
  if (block.type === 'tool_use') return estimateTokens(block.name) + estimateTokens(JSON.stringify(block.input))
  if (block.type !== 'tool_result') return estimateTokens(JSON.stringify(block))
  return messageTokens({ role: 'user', content: block.content ?? '' })
}
