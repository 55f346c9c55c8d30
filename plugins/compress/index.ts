import { LRUCache } from 'lru-cache'
import { definePlugin, type Edit, type Exchange } from 'turnpike/plugin'
import { Conversation, type Taken, writtenBytes } from './conversation.ts'
import { foldTimes } from './fold-times.ts'
import { type CompressOptions, options } from './options.ts'
import { type PressurePolicy, type Seen, underPressure } from './pressure.ts'
import { canClear, clearingEdit, managesContext } from './provider-editing.ts'
import { type RawMessage, rawMessages } from './raw-message.ts'

const KEEP_RESULTS = 3

export default definePlugin({
  name: 'compress',
  summary: 'Shortens tool results, so that every call of a conversation costs less and the prompt cache keeps hitting.',
  options,
  perRequest: ['elide', 'max_context', 'step', 'keep'],
  needs: ['clock'],
  onError: 'bypass',
  setup({ max_memory }, { clock }) {
    const conversations = new LRUCache<string, Conversation>({
      maxSize: max_memory,
      sizeCalculation: (conversation) => Math.max(1, conversation.bytes),
    })
    return {
      middleware: (effective) => {
        const policy = policyOf(effective)
        return async function compress(ctx, next) {
          const { exchange } = ctx.state
          const messages = rawMessages(exchange.request, exchange.preserved)
          const [first] = messages
          if (first === undefined) {
            exchange.idle('no messages')
            return next()
          }
          const key = `${exchange.caller.scope} ${first.identity}`
          const conversation = conversations.get(key) ?? new Conversation(policy.keyOf)
          // Removed during the work: a state that failed half-way must not be reused.
          conversations.delete(key)
          const whole = conversation.take(messages)
          const stageB = stageOf(exchange, effective)
          const seen: Seen =
            stageB === 'here'
              ? underPressure(conversation, { messages, whole, nowMs: clock.nowMs() }, policy)
              : { taken: whole, epochs: 0 }
          conversations.set(key, conversation)
          const edits = editsOf(seen.taken, messages)
          if (stageB === 'provider') edits.push(clearingEdit(exchange, policy.settings, policy.mayElide))
          if (edits.length > 0) exchange.edit(...edits)
          ctx.set('x-svc-context', report(exchange, seen))
          return next()
        }
      },
    }
  },
})

function policyOf({
  test_times,
  elide,
  max_context,
  step,
  keep,
  elide_tools,
  cache_ttl,
}: CompressOptions): PressurePolicy {
  const names = new Set(elide_tools.filter((name) => !name.endsWith('*')))
  const prefixes = elide_tools.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return {
    settings: { startTokens: max_context, stepTokens: step, keepTokens: keep, keepResults: KEEP_RESULTS },
    mayElide: (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix)),
    keyOf: test_times === 'fold' ? foldTimes : (line) => line,
    coldAfterMs: elide === 'idle' ? cache_ttl : undefined,
  }
}

/** Returns how old results of this request are elided: not at all, by the provider, or here. */
function stageOf(exchange: Exchange, { elide, provider_editing }: CompressOptions): 'none' | 'provider' | 'here' {
  if (elide === 'off' || managesContext(exchange)) return 'none'
  return provider_editing && canClear(exchange) ? 'provider' : 'here'
}

/**
 * Builds edits that replace whole messages by bytes in which only the changed texts differ: each message is spliced
 * once, not once per call.
 */
function editsOf(taken: readonly Taken[], messages: readonly RawMessage[]): Edit[] {
  return messages.flatMap((raw, index): Edit[] => {
    const one = taken[index]
    const value = one && writtenBytes(one, raw)
    return value === undefined ? [] : [{ op: 'replace', path: ['messages', index], value }]
  })
}

/** Records and prints the tokens of the messages as the client sent them and as they are sent on. */
function report(exchange: Exchange, { taken, epochs }: Seen): string {
  const before = sumOf(taken, ({ tokensBefore }) => tokensBefore)
  const after = sumOf(taken, ({ tokensAfter }) => tokensAfter)
  const pointers = sumOf(taken, ({ changes }) => sumOf(changes, (change) => change.pointers))
  const results = sumOf(taken, (one) => one.results)
  if (epochs === 0 && after === before)
    exchange.idle(results === 0 ? 'no results of tools' : `${results} results of tools: nothing to shorten`)
  else
    exchange.note(epochs > 0 ? 'elided' : 'shortened', { tokensBefore: before, tokensAfter: after, pointers, epochs })
  return `before=${before}, after=${after}, epochs=${epochs}`
}

function sumOf<One>(all: readonly One[], of: (one: One) => number): number {
  return all.reduce((sum, one) => sum + of(one), 0)
}
