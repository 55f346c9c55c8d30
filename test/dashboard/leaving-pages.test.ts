import test from 'ava'
import { bearer, CLOUD, sessionToken } from '../support/accounts.ts'
import { openFixture } from '../support/fixture.ts'
import { connectRaw } from '../support/raw-client.ts'

const fixture = await openFixture({ env: { ...CLOUD, SVC_RATE_LIMIT: '0' } })
test.after.always(() => fixture.close())

/** Half as many again as may watch at the same time. */
const MANY = 150

test('live feed: pages that leave while their viewer is looked up are not watched for', async (t) => {
  const { port } = fixture.gateway
  const { authorization } = bearer(await sessionToken('leaving-pages'))
  const request = `GET /dashboard/api/live HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: ${authorization}\r\n\r\n`
  const clients = await Promise.all(Array.from({ length: MANY }, () => connectRaw(port)))
  for (const client of clients) client.write(request)
  await new Promise((resolve) => setImmediate(resolve))
  for (const client of clients) client.destroy()
  for (let i = 0; i < 3; i++) await fixture.scenario().send({ method: 'GET', path: '/health' })
  const page = await connectRaw(port)
  page.write(request)
  await page.until('\r\n\r\n')
  t.regex(page.received(), /^HTTP\/1\.1 200 /)
  page.destroy()
})
