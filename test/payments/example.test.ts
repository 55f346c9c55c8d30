import { execFile } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { createPluginDirectory } from '../support/plugin-folders.ts'
import { booksOf, grantToken } from '../support/stripe/machine-payments.ts'
import { openAgentFixture } from './agent-fixture.ts'

const agentFixture = await openAgentFixture()
test.after.always(agentFixture.close)

const run = promisify(execFile)
const AGENT = path.resolve(import.meta.dirname, '../../examples/agent/agent.ts')

test('the example agent discovers, requests a quote, pays and streams, also when the first try fails', async (t) => {
  let calls = 0
  agentFixture.fixture.provider.reply(() =>
    ++calls <= 3 ? { kind: 'error', status: 500 } : { kind: 'answer', text: 'A toll is a fee.' },
  )
  const { path: folder } = createPluginDirectory(t)
  const wallet = path.join(folder, 'wallet')
  writeFileSync(wallet, `#!/bin/sh\necho ${grantToken(agentFixture.stripe.world)}\n`)
  chmodSync(wallet, 0o755)
  const env = { PATH: process.env.PATH, WALLET: wallet }
  const { stdout, stderr } = await run(process.execPath, [AGENT, agentFixture.url, 'What is a toll?'], {
    env,
    timeout: 50_000,
  })
  t.is(stdout, 'A toll is a fee.\n')
  t.regex(stderr, /"amount":"50"/)
  t.regex(stderr, /"status":"success"/)
  t.deepEqual(booksOf(agentFixture.stripe.world), {
    intents: 1,
    capturedCents: 50,
    heldCents: 0,
    statuses: ['succeeded'],
  })
  t.is(calls, 4)
})
