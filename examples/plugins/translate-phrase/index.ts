import { definePlugin, replaceText, z } from 'turnpike/plugin'

export default definePlugin({
  apiVersion: 1,
  name: 'translate-phrase',
  summary: 'Translates one phrase in the text of replies.',
  options: z.strictObject({
    from: z.string().min(1).max(200).default('Hello').describe('Phrase to translate, 1 to 200 characters, exactly.'),
    to: z.string().max(1000).default('Guten Tag').describe('Its translation, at most 1,000 characters.'),
  }),
  perRequest: ['to'],
  needs: [],
  onError: 'bypass',
  setup: () => ({
    middleware({ from, to }) {
      const literal = new RegExp(from.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
      const translate = replaceText(literal, to, { longest: from.length })
      return async function translatePhrase(ctx, next) {
        await next()
        ctx.state.exchange.mapText(translate)
      }
    },
  }),
})
