import assert from 'node:assert/strict'
import test from 'node:test'
import { runPlugin } from 'turnpike/plugin/test'
import plugin from './index.ts'

for (const dialect of ['messages', 'chat'] as const)
  test(`translate-phrase: translates the phrase across the events of a stream: ${dialect}`, async () => {
    const { reply } = await runPlugin(plugin, {
      dialect,
      body: { stream: true },
      options: { from: 'How are you?', to: 'Wie geht’s? 😀' },
      answer: 'Hi! How are you? How are we?',
    })
    assert.equal(reply?.text, 'Hi! Wie geht’s? 😀 How are we?')
  })

test('translate-phrase: leaves a reply without the phrase as the provider sent it', async () => {
  const answer = 'Nothing of that.'
  const { reply } = await runPlugin(plugin, { body: { stream: true }, answer })
  const untouched = await runPlugin(plugin, { body: { stream: true }, answer, options: { from: '\u0000' } })
  assert.equal(reply?.body, untouched.reply?.body)
})

test('translate-phrase: passes on what fails downstream', async () => {
  await assert.rejects(runPlugin(plugin, { answer: new Error('down') }), /down/)
})
