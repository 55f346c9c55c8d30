import { z } from 'zod'
import { type KeyRing, withVouched } from '../../journal/receipts/key-ring.ts'
import type { PublicReceiptKey } from '../../journal/receipts/public-key.ts'
import { CommandError } from '../exit-codes.ts'
import { messageIn, send } from '../remote/gateway.ts'
import { visible } from '../terminal/visible.ts'

const PATIENCE_MS = 30_000
const NOT_FOUND = 404
const EXIT_NO_PROOF = 69
const LONGEST_REPLY_BYTES = 64 * 1024
const LONGEST_SHOWN = 300
/** More than the longest proof of a tree whose size is an exact number. */
const MOST_HASHES = 128

const checkpoint = z.string().max(4096)
const proofSchema = z.object({ hashes: z.array(z.string().length(44)).max(MOST_HASHES), checkpoint })
const headSchema = z.object({ origin: z.string(), checkpoint: checkpoint.nullable() })
const keysSchema = z.object({ note: z.string() })

/** The ledger of a running gateway, by its public routes. Every method throws `CommandError` for other replies. */
export class RemoteLedger {
  readonly #url: string

  constructor(url: string) {
    this.#url = url.replace(/\/+$/, '')
  }

  /** Returns the proof that the ledger continues its first `size` receipts; `undefined` when it has none. */
  async proof(size: number): Promise<z.infer<typeof proofSchema> | undefined> {
    const path = `/v1/ledger/consistency?from=${size}`
    const reply = await this.#get(path)
    return reply.status === NOT_FOUND ? undefined : parse(proofSchema, await contentOf(reply, path), path)
  }

  /** Returns the latest signed head; `null` for an empty ledger. */
  async head(): Promise<string | null> {
    const path = '/.well-known/turnpike-ledger'
    return parse(headSchema, await contentOf(await this.#get(path), path), path).checkpoint
  }

  /** Returns the given keys, and those that one of them vouches for in the gateway's list. Throws `CheckpointError`. */
  async withVouched(keys: readonly PublicReceiptKey[]): Promise<PublicReceiptKey[]> {
    const path = '/.well-known/turnpike-keys'
    const { note }: Pick<KeyRing, 'note'> = parse(keysSchema, await contentOf(await this.#get(path), path), path)
    return withVouched(keys, note)
  }

  #get(path: string): Promise<Response> {
    return send({ url: this.#url, headers: {} }, path, { signal: AbortSignal.timeout(PATIENCE_MS) })
  }
}

async function contentOf(reply: Response, path: string): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of reply.body ?? []) {
    bytes += part.length
    if (bytes > LONGEST_REPLY_BYTES) throw noProof(path)
    parts.push(part)
  }
  const text = Buffer.concat(parts).toString()
  if (reply.ok) return text
  const words = visible(messageIn(text).slice(0, LONGEST_SHOWN))
  throw new CommandError(EXIT_NO_PROOF, `The gateway refuses \`${path}\` (${reply.status}): ${words}`)
}

function parse<Schema extends z.ZodType>(schema: Schema, text: string, path: string): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    if (cause instanceof SyntaxError || cause instanceof z.ZodError) throw noProof(path, cause)
    throw cause
  }
}

/** Creates the error of a gateway, or a proxy before it, that does not reply as the ledger does: it proves nothing. */
export function noProof(path: string, cause?: unknown): CommandError {
  return new CommandError(EXIT_NO_PROOF, `The reply to \`${path}\` is not one of the ledger: nothing is proved.`, {
    cause,
  })
}
