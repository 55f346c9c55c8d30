import type { Edit } from '../json/splice.ts'
import { removeAccountLimits } from '../reply/account-limits.ts'
import type { Reply } from '../reply/reply.ts'
import type { Usage } from '../reply/usage.ts'
import { IDLE } from '../telemetry/idle-modules.ts'
import type { CallTrace, EditTrace, StepTrace } from '../telemetry/traces.ts'
import type { Annotations, EditWatcher } from './annotations.ts'
import type { AnswerLimit } from './answer-limit.ts'
import type { Conversation } from './conversation/conversation.ts'
import { conversationOf } from './conversation/conversation-of.ts'
import { ExchangeFacts } from './exchange-facts.ts'
import { cancelUnopened, type ExchangeState, editState, savedState, setReply, withSignal } from './exchange-state.ts'
import { type MapRequestText, mapRequestText } from './map-request-text.ts'
import type { PreservedText } from './preserved.ts'
import type { RequestDocument } from './request.ts'
import { type SentRequest, withSent } from './sent-request.ts'
import { type StoredContext, storedInputTokens } from './stored-context.ts'
import type { Target } from './target.ts'

export type { Target }

/** A plugin's own handle on a request: it names edits and notes, and after a bypass of the plugin it changes nothing. */
export class Exchange extends ExchangeFacts {
  #state: ExchangeState
  #step: StepTrace | undefined
  #revoked = false

  constructor(state: ExchangeState, step?: StepTrace) {
    super(state)
    this.#state = state
    this.#step = step
  }

  /** The caller's own parts of a call that can choose the account or the reply; credentials as hashes. */
  get callerParts(): string {
    return this.#state.callerParts?.(this) ?? ''
  }

  /** The conversation of the request, recognised when it is first read. */
  get conversation(): Conversation {
    return conversationOf(this.#state)
  }

  /** The current request, in the Messages shape and read-only: change it through `edit`. Throws `invalid_request`. */
  get request(): RequestDocument {
    return this.#state.request ?? this.#state.client.canonical
  }

  /** True if a plugin has edited the request. */
  get isEdited(): boolean {
    return this.#state.request !== undefined
  }

  /** Canonical fields with the gateway's own values: the client gave none, and no plugin has set them. */
  get assumed(): readonly string[] {
    return this.client.assumed.filter((name) => !this.edits.some(({ paths }) => paths.includes(name)))
  }

  /** Most input tokens that a provider adds to the request from what it has stored; 0 for nearly all requests. */
  get storedInputTokens(): number {
    return storedInputTokens(this.#state.client, this.#state.stored)
  }

  /** @internal */
  get stored(): StoredContext {
    return this.#state.stored
  }

  /** The first target. */
  get target(): Target {
    return this.#state.targets[0]
  }

  /** Targets that may answer, in the order of fallback. */
  get targets(): readonly Target[] {
    return this.#state.targets
  }

  /** Aborted when the reply is no longer needed. */
  get signal(): AbortSignal {
    return this.#state.signal
  }

  /** Runs `work`, downstream for example, with another signal in place of `signal`, which is restored when it has ended. */
  async withSignal<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#assertLive()
    return await withSignal(this.#state, signal, work)
  }

  /** The reply, once a plugin or the provider has set one. A plugin sets it to answer the request itself. */
  get reply(): Reply | undefined {
    return this.#state.reply
  }

  set reply(reply: Reply) {
    // A reply that comes too late has no reader: its provider would stream without end.
    if (this.#revoked || this.#state.isClosed) reply.cancel()
    if (this.#state.isClosed) return
    this.#assertLive()
    setReply(this.#state, reply)
  }

  /** Token counts that the reply has reported so far. */
  get usage(): Usage | undefined {
    return this.#state.reply?.usage
  }

  /** @internal the same, or, when the reply was cancelled before it reported any, those of a reply that it replaced */
  get latestUsage(): Usage | undefined {
    return this.usage ?? this.#state.supersededReplies.findLast(({ usage }) => usage !== undefined)?.usage
  }

  /** The pipeline that runs, as a pipeline string. */
  get pipeline(): string {
    return this.#state.pipeline
  }

  get trace(): readonly StepTrace[] {
    return this.#state.trace
  }

  get edits(): readonly EditTrace[] {
    return this.#state.edits
  }

  /** The calls to providers so far. */
  get calls(): readonly CallTrace[] {
    return this.#state.calls
  }

  /** True if a provider was called for this request itself, whatever the result. */
  get isAsked(): boolean {
    return this.#state.isAsked ?? false
  }

  /** @internal */
  async enterUpstream(): Promise<void> {
    await this.#state.beforeUpstream?.()
    this.#state.isAsked = true
  }

  /** @internal */
  noteSent(sent: SentRequest): void {
    this.#state.sent = sent
  }

  /** Removes from the reply the headers about limits of the operator's account: for a caller with limits of its own. */
  hideAccountLimits(): void {
    if (!this.#state.sent?.isCallersOwn) removeAccountLimits(this.#state.reply?.headers ?? {})
  }

  /** @internal */
  recordCall(call: CallTrace): void {
    this.#state.calls.push(withSent(call, this.#state))
  }

  /** Edits the request; every byte outside the edited ranges stays. Throws when a path does not exist. */
  edit(...edits: Edit[]): void {
    this.#assertLive()
    editState(this.#state, edits, this.#step?.module ?? 'gateway')
  }

  /** Rewrites every text of the client's request, in its own dialect; see `MapRequestText`. Throws what `map` throws. */
  mapRequestText(map: MapRequestText): void {
    this.#assertLive()
    mapRequestText(this.#state, map)
  }

  /** Declares texts of the current request that later plugins must not change; only a watcher enforces it. */
  preserve(texts: readonly PreservedText[]): void {
    this.#annotate({ preserved: [...this.preserved, ...texts] })
  }

  /** Texts that plugins have declared as not to be changed. */
  get preserved(): readonly PreservedText[] {
    return this.#state.annotations?.preserved ?? []
  }

  /** Declares that a limit of the caller may cut the reply: a cache in front neither stores nor shares one that was cut. */
  limitAnswer(limit: AnswerLimit): void {
    this.#annotate({ answerLimit: limit })
  }

  get answerLimit(): AnswerLimit | undefined {
    return this.#state.annotations?.answerLimit
  }

  /** Calls `watcher` before each later edit takes effect. */
  watchEdits(watcher: EditWatcher): void {
    this.#annotate({ editWatchers: [...(this.#state.annotations?.editWatchers ?? []), watcher] })
  }

  #annotate(more: Annotations): void {
    this.#assertLive()
    this.#state.annotations = { ...this.#state.annotations, ...more }
  }

  /** Records in the trace what this plugin did, e.g. `note('hit', { savedTokens: 120 })`; `figures` in the receipt too. */
  note(action: string, details?: Record<string, unknown>, figures?: StepTrace['figures']): void {
    if (this.#step === undefined || this.#revoked) return
    Object.assign(this.#step, { action, ...(figures && { figures }) })
    if (details) this.#step.details = { ...this.#step.details, ...details }
  }

  /** Records in trace and receipt the cost of the plugin's own model calls for this request, in nano-USD. */
  addOwnCost(costNanoUsd: number): void {
    if (this.#step === undefined || this.#revoked || costNanoUsd === 0) return
    this.#step.ownCostNanoUsd = (this.#step.ownCostNanoUsd ?? 0) + costNanoUsd
  }

  /** Records in trace and reply that this plugin does nothing for this request, and why, in ASCII: `idle('12 tools')`. */
  idle(reason: string): void {
    this.note(IDLE, { reason })
  }

  /** @internal adds a step's trace, in the order in which steps were entered */
  record(step: StepTrace): void {
    this.#state.trace.push(step)
  }

  /** @internal returns a handle for one step of the pipeline, or for the end behind the last, over the same state */
  forStep(step?: StepTrace): Exchange {
    return new Exchange(this.#state, step)
  }

  /** @internal returns a function that restores what a step may change, for its bypass */
  save(): () => void {
    return savedState(this.#state)
  }

  /** @internal ends the pipeline with the current reply, and returns true if it superseded others */
  close(): boolean {
    this.#state.isClosed = true
    return this.#state.supersededReplies.length > 0
  }

  /** @internal cancels superseded streams that were never opened and would hold their connections */
  cancelUnopened(): void {
    cancelUnopened(this.#state)
  }

  /** @internal makes this handle unable to change anything */
  revoke(): void {
    this.#revoked = true
  }

  /** @internal */
  assertReplaceable(): void {
    this.#assertLive()
    if (this.#state.isClosed) throw new Error('the reply is being sent: it can be rewritten until the pipeline is over')
  }

  #assertLive(): void {
    if (!this.#revoked) return
    throw new Error(`module ${this.#step?.module ?? ''} was bypassed: the request went on without it`)
  }
}
