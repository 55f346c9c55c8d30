import type { Reply } from '../reply/reply.ts'
import type { MapEvent } from '../rewrite/event-rewriter.ts'
import { withEvents, withParts } from '../rewrite/rewritten-reply.ts'
import type { OnRewriteFailure } from '../rewrite/rewritten-stream.ts'
import { inputPartMap, type MapText, type MapToolInput, textPartMap } from '../rewrite/text-map.ts'
import type { ClientRequest } from './client-request.ts'

const breakOff: OnRewriteFailure = (error) => (error instanceof Error ? error : new Error(String(error)))

/** A reply that modules rewrite: one after another, in the order in which they call, nearest to the provider first. */
export abstract class RewritableReply {
  /** @internal decides how a stream goes on whose rewriting has failed */
  onRewriteFailure: OnRewriteFailure = breakOff

  abstract get reply(): Reply | undefined
  abstract set reply(reply: Reply)
  abstract get client(): ClientRequest
  /** @internal throws when the reply is being sent, or the request went on without the module */
  abstract assertReplaceable(): void

  /**
   * Rewrites the texts of the reply, in JSON and streams of every dialect; call it after `next()`. Thinking is never
   * changed, nor is anything outside of the texts. Throws what `map` throws for a JSON reply; in a stream the module has
   * failed then, and the rest passes on as it came, if nothing rewritten has and `onError` is `bypass`, or else breaks off.
   */
  mapText(map: MapText): void {
    this.#rewrite((reply, onFailure) => withParts(reply, textPartMap(map), onFailure))
  }

  /** Rewrites the arguments of the tool calls that the client is to run, each once it is whole; else as `mapText`. */
  mapToolInput(map: MapToolInput): void {
    this.#rewrite((reply, onFailure) => withParts(reply, inputPartMap(map), onFailure))
  }

  /**
   * Rewrites the events of the reply, of any kind, in the Messages shape; else as `mapText`. A reply in another dialect is
   * translated for it, so that what the Messages shape has no place for is lost.
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
