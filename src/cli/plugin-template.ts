/** The files of a new plugin, by name: an idea that works, a test that passes, and a README. */
export function pluginTemplate(name: string): Record<string, string> {
  const identifier = name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  return {
    'index.ts': `import { definePlugin, z } from 'turnpike/plugin'

export default definePlugin({
  apiVersion: 1,
  name: '${name}',
  summary: 'Puts a word into a reply header.',
  options: z.strictObject({
    word: z.string().max(100).default('hello').describe('The word that is put into the header.'),
  }),
  perRequest: ['word'],
  needs: ['log'],
  onError: 'bypass',
  setup(options, { log }) {
    log.debug({ word: options.word }, '${name}.ready')
    return {
      middleware: ({ word }) =>
        async function ${identifier}(ctx, next) {
          // Here the request is on its way in: read ctx.state.exchange.request, change it with exchange.edit(…).
          await next()
          // Here the reply is on its way out: change its texts with ctx.state.exchange.mapText(…).
          ctx.set('x-${name}', word)
        },
    }
  },
})
`,
    'test.ts': `import assert from 'node:assert/strict'
import test from 'node:test'
import { runPlugin } from 'turnpike/plugin/test'
import plugin from './index.ts'

test('${name}: puts its word into the reply header and goes on', async () => {
  const { headers, wentOn } = await runPlugin(plugin, { options: { word: 'hi' } })
  assert.equal(wentOn, true)
  assert.equal(headers['x-${name}'], 'hi')
})
`,
    'README.md': `# ${name}

Puts a word into a reply header.

| option | meaning | default |
| --- | --- | --- |
| \`word\` | The word that is put into the header. May be set per request. | \`hello\` |
`,
  }
}
