/**
 * DESIGN: how Gemini's thought signatures survive in the Messages shape.
 *
 * Purpose: a model of generation 3 signs the first `functionCall` of every step and answers 400 when the signature does
 * not come back on that call; on texts it is recommended only (Gemini API, "Thought signatures"). The Messages shape has
 * no place for it on a `tool_use`, but it has thinking blocks, which clients must send back unchanged in a tool loop. So:
 *
 *     functionCall + signature ──► { thinking, signature: 'gemini:…' }, { tool_use }
 *     text + signature         ──► { text }, { thinking, signature: 'gemini-text:…' }
 *
 * A carrier precedes its call, and joins the thinking before it. It follows its text, because a
 * stream brings the signature last, and because many clients read `content[0].text`.
 * Rejected: the `id` of the tool_use, since signatures are kilobytes and clients keep ids in fields of bounded size.
 * Limits: a client that drops thinking blocks loses the signature; its calls then go out with `SKIP_VALIDATION`, which
 * Google documents for calls that its model did not make. The thinking itself is never sent back.
 * Signatures are raw JSON strings here, quotes included.
 */
import { isString } from '../../core/json/raw-json.ts'

/** The signature, as raw JSON, with which Gemini accepts a call that it has not signed. */
export const SKIP_VALIDATION = '"skip_thought_signature_validator"'

/** The part that a signature belongs to: the call after its carrier, or the text before it. */
export type Signed = 'call' | 'text'

const PREFIXES: Readonly<Record<Signed, string>> = { call: '"gemini:', text: '"gemini-text:' }

/** Returns the `signature` of the thinking block that carries `signature`, both as raw JSON. */
export function toCarrier(signature: string, signed: Signed): string {
  return PREFIXES[signed] + signature.slice(1)
}

/** Reads a thinking block's raw `signature`; `undefined` when it is not one of Gemini's. */
export function fromCarrier(carrier: string | undefined): { signed: Signed; signature: string } | undefined {
  if (!isString(carrier)) return undefined
  for (const signed of ['call', 'text'] as const) {
    const prefix = PREFIXES[signed]
    if (carrier.startsWith(prefix) && carrier.length > prefix.length + 1) {
      return { signed, signature: `"${carrier.slice(prefix.length)}` }
    }
  }
  return undefined
}
