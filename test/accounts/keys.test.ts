import test from 'ava'
import { bearer, createKey, startCloudGateway } from '../support/accounts.ts'
import { ask, send } from '../support/http-client.ts'

test('cloud: a key that was made is good for a message', async (t) => {
  await using gateway = await startCloudGateway()
  const { key } = await createKey(gateway, 'alice', { name: 'ci' })
  const body = ask('hi', { model: 'demo/echo' })
  t.is((await send(gateway.url, { body, headers: bearer(key) })).status, 200)
  t.is((await send(gateway.url, { body })).status, 401)
})
