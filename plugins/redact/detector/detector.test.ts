import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { runPlugin } from '../../../src/plugin/test.ts'
import redact from '../index.ts'
import { createDetector } from './detector.ts'
import { detectorOptions } from './options.ts'

const NEVER = new AbortController().signal
/** Longest budget: a machine under load is slow. */
const LONG = '4s'
const NAME = 'Anna Schmidt'
const body = { messages: [{ role: 'user', content: `${NAME} is anna@acme.io` }] }

interface Received {
  readonly texts: readonly string[]
  readonly authorization: string | undefined
}

/** Starts a detector; returns its address and what it has received. */
async function start(t: ExecutionContext, answer: (response: ServerResponse) => void) {
  const seen: Received[] = []
  const server = createServer(async (request, response) => {
    seen.push({ ...JSON.parse(await text(request)), authorization: request.headers.authorization })
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  // Safe: it listens on TCP.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/find`, seen }
}

const finding =
  (...values: readonly string[]) =>
  (response: ServerResponse) =>
    void response.end(JSON.stringify({ values }))

test('detector: its values are replaced, and restored in the reply', async (t) => {
  const { url, seen } = await start(t, finding(NAME, 'Somebody Else', 'x'))
  const options = { detector: { url, api_key: 'key-of-detector', budget: LONG } }
  const run = await runPlugin(redact, { options, body })
  const sent = JSON.stringify(run.request)
  t.regex(sent, /REDACTED_CUSTOM_[0-9A-Z]{12} is REDACTED_EMAIL_/)
  t.is(run.headers['x-svc-redact'], 'mode=redact; email=1; custom=1')
  t.is(seen[0]?.authorization, 'Bearer key-of-detector')
  const answer = `Dear ${/REDACTED_CUSTOM_\w{12}/.exec(sent)?.[0]}`
  const { reply } = await runPlugin(redact, { options, body, answer })
  t.is(reply?.text, `Dear ${NAME}`)
})

const FAULTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'no reply': () => {},
  'status 500': (response) => void response.writeHead(500).end(),
  'a redirect': (response) => void response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
  'a reply that is no JSON': (response) => void response.end('<html>'),
  'a reply of another shape': (response) => void response.end(JSON.stringify({ values: [{ text: NAME }] })),
  'a reply that is far too long': (response) => void response.end(JSON.stringify({ values: [], x: 'x'.repeat(3e6) })),
  'a broken connection': (response) => void response.destroy(),
}

for (const [fault, answer] of Object.entries(FAULTS))
  test(`detector: ${fault} refuses the request, or goes on without it, as the operator chooses`, async (t) => {
    const { url } = await start(t, answer)
    const detector = { url, budget: fault === 'no reply' ? '10ms' : LONG }
    await t.throwsAsync(runPlugin(redact, { options: { detector }, body }), { message: /detector/ })
    const run = await runPlugin(redact, { options: { detector: { ...detector, on_failure: 'continue' } }, body })
    t.is(run.headers['x-svc-redact'], 'mode=redact; email=1; detector=failed')
    t.false(JSON.stringify(run.request).includes('anna@acme.io'))
    t.false(JSON.stringify(run.log).includes('nna'))
    const observed = await runPlugin(redact, { options: { mode: 'observe', detector }, body })
    t.is(observed.headers['x-svc-redact'], 'mode=observe; email=1; detector=failed')
  })

test('detector: texts of earlier turns are not sent again, and their values stay known', async (t) => {
  const { url, seen } = await start(t, finding(NAME))
  const detector = await createDetector(detectorOptions.parse({ url, budget: LONG }))
  t.teardown(() => detector?.close())
  const first = ['a', `${NAME} wrote`]
  t.deepEqual(await detector?.find(first, NEVER), [NAME])
  t.deepEqual(await detector?.find([...first, 'b'], NEVER), [NAME])
  t.deepEqual(await detector?.find([...first, 'b'], NEVER), [NAME])
  t.deepEqual(
    seen.map(({ texts }) => texts),
    [first, ['b']],
  )
})

test('detector: more texts than a call may have are a failure, without a call', async (t) => {
  const { url, seen } = await start(t, finding())
  const detector = await createDetector(detectorOptions.parse({ url, budget: LONG }))
  t.teardown(() => detector?.close())
  await t.throwsAsync(async () => detector?.find(['x'.repeat(4_000_001)], NEVER), { message: /too many/ })
  t.deepEqual(seen, [])
})

test('detector: a client that disconnects ends the call', async (t) => {
  const { promise: received, resolve } = Promise.withResolvers<void>()
  const { url } = await start(t, () => resolve())
  const detector = await createDetector(detectorOptions.parse({ url, budget: LONG }))
  t.teardown(() => detector?.close())
  const client = new AbortController()
  const call = detector?.find(['a'], client.signal)
  await received
  client.abort(new Error('disconnected'))
  await t.throwsAsync(async () => call, { message: 'disconnected' })
})
