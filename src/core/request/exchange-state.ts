import type { Edit } from '../json/splice.ts'
import type { PresentedCredential } from '../ports/provider.ts'
import type { Reply } from '../reply/reply.ts'
import type { CallTrace, EditTrace, StepTrace } from '../telemetry/traces.ts'
import type { Annotations } from './annotations.ts'
import type { Caller } from './caller.ts'
import type { ClientRequest } from './client-request.ts'
import type { Conversation } from './conversation/conversation.ts'
import type { Conversations } from './conversation/conversations.ts'
import type { Exchange } from './exchange.ts'
import type { RequestDocument } from './request.ts'
import type { RouteName } from './route-name.ts'
import type { SentRequest } from './sent-request.ts'
import type { StoredContext } from './stored-context.ts'
import type { Target } from './target.ts'

/** The state behind the handles: one per request. */
export interface ExchangeState {
  readonly id: string
  readonly route: RouteName
  readonly caller: Caller
  /** Tags of the key and of the request. Default: none. */
  readonly tags?: readonly string[] | undefined
  /** Credential to present to a provider as the caller's own; in cloud mode never the API key. */
  readonly credential: PresentedCredential | undefined
  /** Runs before a provider is called. Throws to refuse. */
  readonly beforeUpstream?: (() => Promise<void>) | undefined
  /** Request headers as received, lower-case names. */
  readonly headers: NodeJS.Dict<string | string[]>
  /** Returns the caller's own parts that providers would receive; `undefined`: none. */
  readonly callerParts?: ((exchange: Exchange) => string) | undefined
  /** The query string as received, `?` included, or empty. */
  readonly query: string
  /** The client's request, in its own dialect, with the texts that plugins have mapped. */
  client: ClientRequest
  /** The client's request as it came; unset while no plugin has mapped its texts. */
  received?: ClientRequest
  /** The canonical request with the edits of plugins; `undefined` while there are none. */
  request: RequestDocument | undefined
  /** Providers and models that may answer, in the order of fallback. Never empty. */
  readonly targets: readonly [Target, ...Target[]]
  readonly stored: StoredContext
  /** Recognises conversations. Default: by this request alone. */
  readonly conversations?: Conversations | undefined
  /** The conversation of the request, once it was read. */
  conversation?: Conversation
  /** Notes of plugins on the request, for the plugins after them. */
  annotations?: Annotations | undefined
  signal: AbortSignal
  reply: Reply | undefined
  /** The pipeline that runs, printed. */
  pipeline: string
  readonly trace: StepTrace[]
  readonly edits: EditTrace[]
  readonly calls: CallTrace[]
  /** The last request that was sent to a provider. */
  sent?: SentRequest
  /** A provider was called. */
  isAsked?: boolean
  /** Replies that a plugin replaced by another. */
  readonly supersededReplies: Reply[]
  /** The pipeline has ended: a reply that is set later is cancelled. */
  isClosed?: boolean
}

/** Returns a function that restores the parts that a step may change. */
export function savedState(state: ExchangeState): () => void {
  const { request, client, annotations, signal, reply } = state
  const editCount = state.edits.length
  return () => {
    Object.assign(state, { request, client, annotations, signal, reply })
    state.edits.length = editCount
  }
}

/** Runs `work` with another signal, and restores the one before. */
export async function withSignal<T>(state: ExchangeState, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const replaced = state.signal
  state.signal = signal
  try {
    return await work()
  } finally {
    if (state.signal === signal) state.signal = replaced
  }
}

/** Replaces the reply. */
export function setReply(state: ExchangeState, reply: Reply): void {
  if (state.reply?.kind === 'stream') state.supersededReplies.push(state.reply)
  state.reply = reply
}

/** Cancels the streams that were never opened. */
export function cancelUnopened({ supersededReplies, reply: last }: ExchangeState): void {
  for (const reply of [...supersededReplies, last]) if (reply?.kind === 'stream' && !reply.opened) reply.cancel()
}

/** Edits the request of a state in the name of a plugin, once all watchers have let it pass. Throws their errors. */
export function editState(state: ExchangeState, edits: readonly Edit[], module: string): void {
  const before = state.request ?? state.client.canonical
  const after = before.edited(edits)
  for (const watch of state.annotations?.editWatchers ?? []) watch(after, module)
  state.request = after
  const paths = edits.map((edit) => edit.path.join('.'))
  state.edits.push({ module, paths, bytesBefore: before.bytes.length, bytesAfter: after.bytes.length })
}
