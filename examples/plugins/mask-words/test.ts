import assert from 'node:assert/strict'
import test from 'node:test'
import { runPlugin } from 'turnpike/plugin/test'
import plugin from './index.ts'

for (const dialect of ['messages', 'chat'] as const)
  for (const stream of [false, true])
    test(`mask-words: masks whole words of a reply and nothing else: ${dialect}, stream ${stream}`, async () => {
      const { reply } = await runPlugin(plugin, {
        dialect,
        body: { stream },
        options: { words: ['secret', 'token'] },
        answer: 'A secret, two SECRETS, and a Token',
      })
      assert.equal(reply?.text, 'A ******, two SECRETS, and a *****')
      assert.equal(reply?.outcome, 'complete')
    })

test('mask-words: leaves the arguments of tools alone', async () => {
  const answer = [{ type: 'tool_use', id: 'toolu_1', name: 'look_up', input: { word: 'secret' } }]
  const { reply } = await runPlugin(plugin, { answer })
  assert.deepEqual(reply?.toolInputs, ['{"word":"secret"}'])
})

test('mask-words: refuses a word that would be a pattern', () => {
  assert.equal(plugin.options.safeParse({ words: ['.*'] }).success, false)
})
