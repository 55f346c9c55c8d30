import { performance } from 'node:perf_hooks'
import type { Context } from 'koa'
import type { Exchange } from '../core/request/exchange.ts'
import { hideSecrets } from '../core/secrets.ts'
import type { ReceiptSettlement } from '../core/telemetry/receipt.ts'
import { reasonOf } from '../core/telemetry/refusal-reason.ts'
import type { Latency } from '../journal/receipts/build.ts'
import type { ReplyRecorder } from '../journal/receipts/receipts.ts'
import { onClosed } from './client-disconnect.ts'
import { presentedSecrets } from './credential.ts'
import { followBody, tapBody } from './sent-body.ts'

/** Reply header with the receipt's id. */
export const RECEIPT_HEADER = 'x-svc-receipt'

/** Times of a request, in milliseconds of the process's monotonic clock. */
interface Moments {
  /** The headers had arrived. */
  readonly enteredAtMs: number
  /** The whole body had arrived. */
  readonly readAtMs: number
}

/** Input of the receipt of a reply. */
export interface ReceiptOpening extends Moments {
  readonly recorder: ReplyRecorder
  readonly exchange: Exchange
  /** Returns the pipeline that ran; called when the reply has ended. */
  readonly ranPipeline: () => string
  /** Returns the payment; called when the reply has ended. */
  readonly settlement?: (() => ReceiptSettlement | undefined) | undefined
}

const NOT_DIGESTED = { sha256: '', bytes: 0 }

/** A receipt that is written when the reply has ended, also when it failed. */
export class ReceiptOfReply {
  readonly id: string
  readonly #moments: Moments
  readonly #exchange: Exchange
  readonly #runAtMs: number
  #repliedAtMs: number | undefined
  #firstByteAtMs: number | undefined
  #error: unknown

  constructor(
    { req, res }: Pick<Context, 'req' | 'res'>,
    { recorder, exchange, ranPipeline, settlement, ...moments }: ReceiptOpening,
  ) {
    const { id, admittedAtMs } = recorder.open()
    this.id = id
    this.#moments = moments
    this.#exchange = exchange
    this.#runAtMs = performance.now()
    tapBody(res, () => {
      this.#firstByteAtMs ??= performance.now()
    })
    const digest = recorder.writesReceipts ? followBody(res) : () => NOT_DIGESTED
    onClosed(res, () => {
      const { sha256, bytes } = digest()
      recorder.record({
        id,
        exchange,
        pipeline: ranPipeline(),
        status: res.headersSent ? res.statusCode : undefined,
        isDelivered: res.writableFinished,
        replySha256: sha256,
        replyBytes: bytes,
        latency: this.#latency(performance.now()),
        admittedAtMs,
        repliedAtMs: admittedAtMs + (this.#repliedAtMs ?? performance.now()) - this.#runAtMs,
        settlement: settlement?.(),
        reason:
          this.#error === undefined || !res.headersSent
            ? undefined
            : reasonOf(this.#error, (text) => hideSecrets(text, presentedSecrets(req.headers))),
      })
    })
  }

  /** Records the error of the pipeline, which becomes the reply. */
  markFailed(error: unknown): void {
    this.#error = error
  }

  /** Records that the pipeline has returned its reply or failed. */
  markReplied(): void {
    this.#repliedAtMs = performance.now()
  }

  /** Returns the time of the upstream handler: the pipeline's time less that of its plugins. */
  #latency(closedAtMs: number): Latency {
    const { enteredAtMs, readAtMs } = this.#moments
    const repliedAtMs = this.#repliedAtMs ?? closedAtMs
    const { calls, trace } = this.#exchange
    const inModulesMs = trace.reduce((sum, { durationMs }) => sum + durationMs, 0)
    const providerMs = calls.length === 0 ? undefined : Math.max(0, repliedAtMs - this.#runAtMs - inModulesMs)
    return {
      totalMs: closedAtMs - enteredAtMs,
      gatewayMs: repliedAtMs - readAtMs - (providerMs ?? 0),
      providerMs,
      firstByteMs: this.#firstByteAtMs === undefined ? undefined : this.#firstByteAtMs - enteredAtMs,
    }
  }
}
