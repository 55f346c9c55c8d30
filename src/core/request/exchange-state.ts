import type { Edit } from '../json/splice.ts'
import type { PresentedCredential } from '../ports/provider.ts'
import type { Reply } from '../reply/reply.ts'
import type { CallTrace, EditTrace, StepTrace } from '../telemetry/traces.ts'
import type { Annotations } from './annotations.ts'
import type { Caller } from './caller.ts'
import type { ClientRequest } from './client-request.ts'
import type { Exchange, Target } from './exchange.ts'
import type { RequestDocument } from './request.ts'
import type { RouteName } from './route-name.ts'

/** The state behind the handles: one per request. */
export interface ExchangeState {
  readonly id: string
  readonly route: RouteName
  readonly caller: Caller
  /** What a provider may be shown as the caller's own; in cloud mode never the API key. */
  readonly credential: PresentedCredential | undefined
  /** Runs before a provider is called. Throws to refuse. */
  readonly beforeUpstream?: (() => Promise<void>) | undefined
  /** Request headers as they came, lower-case names. */
  readonly headers: NodeJS.Dict<string | string[]>
  /** What of the caller's own providers would be shown; `undefined`: nothing. */
  readonly callerParts?: ((exchange: Exchange) => string) | undefined
  /** The query string as it came, `?` included, or empty. */
  readonly query: string
  /** What the client sent, in its own dialect. */
  readonly client: ClientRequest
  /** The canonical request as modules left it; `undefined` while none has edited it. */
  request: RequestDocument | undefined
  /** Who may answer, in the order in which they are asked. Never empty. */
  readonly targets: readonly [Target, ...Target[]]
  /** What modules have said of the request for those that come after them. */
  annotations?: Annotations | undefined
  signal: AbortSignal
  reply: Reply | undefined
  /** The pipeline that runs, printed. */
  pipeline: string
  readonly trace: StepTrace[]
  readonly edits: EditTrace[]
  readonly calls: CallTrace[]
  /** Whether a provider was asked. */
  isAsked?: boolean
  /** Replies that a module put another in the place of. */
  readonly supersededReplies: Reply[]
  /** Whether the pipeline is over: a reply that is set later is cancelled. */
  isClosed?: boolean
}

/** Returns a function that puts back what a step may change. */
export function savedState(state: ExchangeState): () => void {
  const { request, annotations, signal, reply } = state
  const editCount = state.edits.length
  return () => {
    Object.assign(state, { request, annotations, signal, reply })
    state.edits.length = editCount
  }
}

/** Cancels the streams that nobody has opened. */
export function cancelUnopened({ supersededReplies, reply: last }: ExchangeState): void {
  for (const reply of [...supersededReplies, last]) if (reply?.kind === 'stream' && !reply.opened) reply.cancel()
}

/** Edits the request of a state in the name of a module, once all watchers have let it pass. Throws what they throw. */
export function editState(state: ExchangeState, edits: readonly Edit[], module: string): void {
  const before = state.request ?? state.client.canonical
  const after = before.edited(edits)
  for (const watch of state.annotations?.editWatchers ?? []) watch(after, module)
  state.request = after
  const paths = edits.map((edit) => edit.path.join('.'))
  state.edits.push({ module, paths, bytesBefore: before.bytes.length, bytesAfter: after.bytes.length })
}
