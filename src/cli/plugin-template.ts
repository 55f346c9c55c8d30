/** Returns the files of a new plugin, by name: a working example, a passing test, and a README. */
export function pluginTemplate(name: string): Record<string, string> {
  const identifier = name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  return {
    'index.ts': `import { definePlugin, z } from 'turnpike/plugin'

export default definePlugin({
  apiVersion: 1,
  name: '${name}',
  summary: 'Sets a reply header.',
  options: z.strictObject({
    word: z.string().max(100).default('hello').describe('The value of the header.'),
  }),
  perRequest: ['word'],
  needs: ['log'],
  onError: 'bypass',
  setup(options, { log }) {
    log.debug({ word: options.word }, '${name}.ready')
    return {
      middleware: ({ word }) =>
        async function ${identifier}(ctx, next) {
          // Before next(): the request. Read ctx.state.exchange.request, change it with exchange.edit(…).
          await next()
          // After next(): the reply. Change its texts with ctx.state.exchange.mapText(…).
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

test('${name}: sets the reply header and calls next()', async () => {
  const { headers, wentOn } = await runPlugin(plugin, { options: { word: 'hi' } })
  assert.equal(wentOn, true)
  assert.equal(headers['x-${name}'], 'hi')
})
`,
    'README.md': `# ${name}

Sets a reply header.

| option | meaning | default |
| --- | --- | --- |
| \`word\` | The value of the header. May be set per request. | \`hello\` |
`,
  }
}
