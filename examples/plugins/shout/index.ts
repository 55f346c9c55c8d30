import { definePlugin, type Message, z } from 'turnpike/plugin'

export default definePlugin({
  name: 'shout',
  summary: 'Writes the last user message in capitals.',
  options: z.strictObject({
    max: z
      .int()
      .min(1)
      .max(100_000)
      .default(2000)
      .describe('Longest text that is changed, in characters; a longer one is left unchanged.'),
  }),
  perRequest: ['max'],
  needs: [],
  onError: 'bypass',
  setup() {
    return {
      middleware: ({ max }) =>
        async function shout(ctx, next) {
          const { exchange } = ctx.state
          const texts = textsOfLastUser(exchange.request.messages).filter(({ text }) => text.length <= max)
          if (texts.length > 0) {
            // Only these strings are replaced; every other byte of the request is as the client sent it.
            exchange.edit(
              ...texts.map(({ path, text }) => ({ op: 'replace', path, value: text.toUpperCase() }) as const),
            )
            exchange.note('shouted', { texts: texts.length })
          }
          await next()
        },
    }
  },
})

interface Text {
  /** Path of the text in the request's body. */
  readonly path: (string | number)[]
  readonly text: string
}

function textsOfLastUser(messages: readonly Message[]): Text[] {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const content = messages[at]?.content ?? []
  if (typeof content === 'string') return [{ path: ['messages', at, 'content'], text: content }]
  return content.flatMap((block, index) =>
    block.type === 'text' ? [{ path: ['messages', at, 'content', index, 'text'], text: block.text }] : [],
  )
}
