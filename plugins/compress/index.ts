import { LRUCache } from 'lru-cache'
import { bytes, definePlugin, type Edit, type Exchange, z } from 'turnpike/plugin'
import { Conversation, type Taken, writtenBytes } from './conversation.ts'
import { type RawMessage, rawMessages } from './raw-message.ts'

const options = z.strictObject({
  max_memory: bytes({ min: '1MB', max: '4GB' })
    .prefault('64MB')
    .describe(
      'Memory for conversations that run, so that only their new messages are worked on. What was used longest ago goes first; it costs milliseconds, never another result.',
    ),
})

/** Fewer tokens for the same conversation. */
export default definePlugin({
  name: 'compress',
  summary: 'Shortens what tools gave back, so that every call of a conversation costs less and caches stay good.',
  options,
  perRequest: [],
  needs: [],
  onError: 'bypass',
  setup({ max_memory }) {
    const conversations = new LRUCache<string, Conversation>({
      maxSize: max_memory,
      sizeCalculation: (conversation) => Math.max(1, conversation.bytes),
    })
    return {
      middleware: () =>
        async function compress(ctx, next) {
          const { exchange } = ctx.state
          const messages = rawMessages(exchange.request, exchange.preserved)
          const [first] = messages
          if (first === undefined) return next()
          const key = `${exchange.caller.scope} ${first.identity}`
          const conversation = conversations.get(key) ?? new Conversation()
          // Out of reach while it is worked on: one that failed half-way is not to be met again.
          conversations.delete(key)
          const taken = conversation.take(messages)
          conversations.set(key, conversation)
          const edits = editsOf(taken, messages)
          if (edits.length > 0) exchange.edit(...edits)
          ctx.set('x-svc-context', tell(exchange, taken))
          return next()
        },
    }
  },
})

/** Whole messages are replaced, by bytes in which only the changed texts differ: so each is spliced once, not once a call. */
function editsOf(taken: readonly Taken[], messages: readonly RawMessage[]): Edit[] {
  return messages.flatMap((raw, index) => {
    const one = taken[index]
    const value = one && writtenBytes(one, raw)
    return value === undefined ? [] : [{ op: 'replace' as const, path: ['messages', index], value }]
  })
}

/** Notes the tokens of the messages as the client sent them and as they are sent on, and prints them. */
function tell(exchange: Exchange, taken: readonly Taken[]): string {
  const before = sumOf(taken, ({ tokensBefore }) => tokensBefore)
  const after = sumOf(taken, ({ tokensAfter }) => tokensAfter)
  const pointers = sumOf(taken, ({ changes }) => changes.reduce((sum, change) => sum + change.pointers, 0))
  exchange.note(after < before ? 'shortened' : 'unchanged', { tokensBefore: before, tokensAfter: after, pointers })
  return `before=${before}, after=${after}`
}

function sumOf(taken: readonly Taken[], of: (one: Taken) => number): number {
  return taken.reduce((sum, one) => sum + of(one), 0)
}
