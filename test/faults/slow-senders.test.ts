import test from 'ava'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { connectRaw } from '../support/raw-client.ts'

const fixture = await openFixture({
  config: { server: { header_timeout: '1s', body_timeout: '1s', keep_alive_timeout: '1s' } },
})
test.after.always(async () => fixture.close())
test.after('slow senders: nothing is left of all of them', (t) => fixture.assertClean(t))

const HEAD = 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\ncontent-type: application/json\r\n'

for (const [claim, text] of Object.entries({
  'its request line': 'POST /v1/mess',
  'its headers': HEAD,
  'its body': `${HEAD}content-length: 100\r\n\r\n{"model":`,
  'its chunked body': `${HEAD}transfer-encoding: chunked\r\n\r\n5\r\n{"mod\r\n`,
})) {
  test(`slow senders: a client that stops within ${claim} gets 408 and is cut off`, async (t) => {
    const client = await connectRaw(fixture.gateway.port)
    client.write(text)
    t.regex(await client.closed, /^HTTP\/1\.1 408 /)
  })
}

test('slow senders: a client that sends nothing at all is cut off', async (t) => {
  const client = await connectRaw(fixture.gateway.port)
  t.regex(await client.closed, /^$|^HTTP\/1\.1 408 /)
})

test('slow senders: an idle connection is closed after its reply', async (t) => {
  const client = await connectRaw(fixture.gateway.port)
  client.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
  const received = await client.closed
  t.regex(received, /^HTTP\/1\.1 200 /)
  t.is(received.split('HTTP/1.1').length, 2)
})

test('slow senders: a reply may take longer than a request may', async (t) => {
  const scenario = fixture.scenario({ kind: 'answer', before: { delayMs: 2500 } })
  t.is((await scenario.send({ body: ask('think long') })).status, 200)
})
