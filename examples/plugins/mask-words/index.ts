import { definePlugin, replaceText, z } from 'turnpike/plugin'

const word = z.string().regex(/^\w{1,50}$/, 'expected 1 to 50 letters, digits or underscores')

export default definePlugin({
  apiVersion: 1,
  name: 'mask-words',
  summary: 'Masks words in the text of replies.',
  options: z.strictObject({
    words: z.array(word).min(1).max(100).default(['secret']).describe('Words to mask, in any case: 1 to 100.'),
  }),
  perRequest: [],
  needs: [],
  onError: 'refuse',
  setup: () => ({
    middleware({ words }) {
      const pattern = new RegExp(`\\b(?:${words.join('|')})\\b`, 'gi')
      const longest = Math.max(...words.map(({ length }) => length))
      const mask = replaceText(pattern, (found) => '*'.repeat(found.length), { longest })
      return async function maskWords(ctx, next) {
        await next()
        ctx.state.exchange.mapText(mask)
      }
    },
  }),
})
