import assert from 'node:assert/strict'
import test from 'node:test'
import { runPlugin } from 'turnpike/plugin/test'
import plugin from './index.ts'

test('stamp: puts label and time into the header', async () => {
  const clock = { nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5) }
  const { headers } = await runPlugin(plugin, { options: { label: 'here' }, services: { clock } })
  assert.equal(headers['x-stamp'], 'here 2026-01-02T03:04:05.000Z')
})

test('stamp: propagates errors from downstream', async () => {
  await assert.rejects(runPlugin(plugin, { answer: new Error('down') }), /down/)
})

test('stamp: refuses a label that would break the header', () => {
  assert.equal(plugin.options.safeParse({ label: 'a\r\nb' }).success, false)
})
