import type { Reply } from '../reply/reply.ts'
import type { MapEvent } from '../rewrite/event-rewriter.ts'
import { withEvents, withParts } from '../rewrite/rewritten-reply.ts'
import type { OnRewriteFailure } from '../rewrite/rewritten-stream.ts'
import {
  inputPartMap,
  inputTextPartMap,
  type MapText,
  type MapTextOptions,
  type MapToolInput,
  textPartMap,
} from '../rewrite/text-map.ts'
import type { ClientRequest } from './client-request.ts'

const breakOff: OnRewriteFailure = (error) => (error instanceof Error ? error : new Error(String(error)))

/** A reply that plugins rewrite, in the order of their calls: the plugin nearest to the provider first. */
export abstract class RewritableReply {
  /** @internal decides how a stream continues after a failed rewriting */
  onRewriteFailure: OnRewriteFailure = breakOff

  abstract get reply(): Reply | undefined
  abstract set reply(reply: Reply)
  abstract get client(): ClientRequest
  /** @internal throws when the reply is being sent, or the request went on without the module */
  abstract assertReplaceable(): void

  /**
   * Rewrites the texts of the reply, in JSON and streams of every dialect; call it after `next()`. Signed thinking is never
   * changed, nor is anything outside of the texts that `options` names. Throws the error of `map` for a JSON reply. In a stream the plugin has then
   * failed: with `onError: bypass`, if no rewritten text was sent, the rest passes unchanged; otherwise the stream breaks off.
   */
  mapText(map: MapText, options?: MapTextOptions): void {
    this.#rewrite((reply, onFailure) => withParts(reply, textPartMap(map, options), onFailure))
  }

  /** Rewrites the arguments of the client's tool calls, each once it is complete; otherwise as `mapText`. */
  mapToolInput(map: MapToolInput): void {
    this.#rewrite((reply, onFailure) => withParts(reply, inputPartMap(map), onFailure))
  }

  /**
   * Rewrites the JSON text of the arguments of the client's tool calls as it arrives; otherwise as `mapText`. The rewritten
   * text must be JSON again, which is not checked.
   */
  mapToolInputText(map: MapText): void {
    this.#rewrite((reply, onFailure) => withParts(reply, inputTextPartMap(map), onFailure))
  }

  /**
   * Rewrites the events of the reply, of any kind, in the Messages shape; otherwise as `mapText`. A reply in another dialect
   * is translated for it, and fields without a place in the Messages shape are lost.
   */
  mapEvents(map: MapEvent): void {
    this.#rewrite((reply, onFailure) => {
      if (reply.dialect.toMessage !== undefined && Number(this.client.document.field('n') ?? 1) > 1)
        throw new Error('mapEvents cannot rewrite a reply of several choices')
      return withEvents(reply, map, onFailure)
    })
  }

  #rewrite(rewrite: (reply: Reply, onFailure: OnRewriteFailure) => Reply): void {
    // The setter cancels a reply that comes too late, and with it the one that it rewrites.
    this.assertReplaceable()
    const { reply } = this
    if (reply === undefined) throw new Error('there is no reply to rewrite: call it after `await next()`')
    const rewritten = rewrite(reply, this.onRewriteFailure)
    if (rewritten !== reply) this.reply = rewritten
  }
}
