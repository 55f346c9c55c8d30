import assert from 'node:assert/strict'
import test from 'node:test'
import plugin from './index.ts'

const clock = { nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5) }

/** Runs the plugin around `downstream`; gives the headers it set. */
async function headersOf(given: object, downstream = async () => {}): Promise<Map<string, string>> {
  const options = plugin.options.parse(given)
  const { middleware } = await plugin.setup(options, { clock })
  const headers = new Map<string, string>()
  await middleware(options)({ set: (name: string, value: string) => headers.set(name, value) } as never, downstream)
  return headers
}

test('stamp: puts label and time into the header', async () => {
  assert.equal((await headersOf({ label: 'here' })).get('x-stamp'), 'here 2026-01-02T03:04:05.000Z')
})

test('stamp: passes on what fails downstream', async () => {
  await assert.rejects(
    headersOf({}, () => Promise.reject(new Error('down'))),
    /down/,
  )
})

test('stamp: refuses a label that would break the header', () => {
  assert.equal(plugin.options.safeParse({ label: 'a\r\nb' }).success, false)
})
