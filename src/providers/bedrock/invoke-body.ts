import type { Edit } from '../../core/json/splice.ts'
import { RequestDocument } from '../../core/request/request.ts'

/** The only supported value (Amazon Bedrock User Guide, "Anthropic Claude Messages API"). */
const VERSION = 'bedrock-2023-05-31'

/**
 * Builds the body of an invocation: the request without the fields of the path, with the version, and the betas, which
 * have no header there. Every other byte stays.
 */
export function invokeBody(request: RequestDocument, betas: readonly string[]): Buffer {
  return request.edited(invocationEdits(request, betas)).bytes
}

function invocationEdits(request: RequestDocument, betas: readonly string[]): Edit[] {
  const edits: Edit[] = [
    { op: 'remove', path: ['model'] },
    { op: 'add', path: ['anthropic_version'], value: VERSION },
  ]
  if (request.raw('stream') !== undefined) edits.push({ op: 'remove', path: ['stream'] })
  if (betas.length === 0) return edits
  const own = request.field('anthropic_beta')
  const all = new Set([...(Array.isArray(own) ? own : []), ...betas])
  return [...edits, { op: 'add', path: ['anthropic_beta'], value: [...all] }]
}

/**
 * Builds the body of a token count: an invocation, wrapped (Amazon Bedrock API Reference, "CountTokens"). An invocation
 * requires `max_tokens`, which a count's own request does not have; no reply is generated.
 */
export function countTokensBody(body: Buffer, betas: readonly string[]): Buffer {
  const request = new RequestDocument(body)
  const edits = invocationEdits(request, betas)
  if (request.raw('max_tokens') === undefined)
    edits.push({ op: 'add', path: ['max_tokens'], value: leastMaxTokens(request) })
  const invocation = request.edited(edits).bytes
  return Buffer.from(JSON.stringify({ input: { invokeModel: { body: invocation.toString('base64') } } }))
}

/** Returns a valid `max_tokens`: it must exceed the thinking budget. */
function leastMaxTokens(request: RequestDocument): number {
  const thinking = request.field('thinking')
  const budget =
    typeof thinking === 'object' && thinking !== null && 'budget_tokens' in thinking ? thinking.budget_tokens : 0
  return typeof budget === 'number' ? budget + 1 : 1
}

const PROFILE = /^[a-z-]+\.(?=anthropic\.)/

/** Returns the model of an inference profile (`us.anthropic.…`): a token count refuses profiles. */
export function countableModel(model: string): string {
  return model.replace(PROFILE, '')
}
