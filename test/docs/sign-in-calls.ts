import { type Reply, type SendOptions, send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'

/** Calls each route of sessions and of clients that sign in; yields it with its reply. `user` are headers of an operator `ada`. */
export async function* signInCalls(
  url: string,
  user: NonNullable<SendOptions['headers']>,
): AsyncGenerator<[route: string, reply: Reply]> {
  const call = (method: string, path: string, body?: JsonObject) =>
    send(url, { method, path, headers: user, ...(body && { body }) })
  const form = (path: string, fields: Record<string, string>) =>
    send(url, {
      path,
      headers: { authorization: undefined, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    })
  const metadata = '/.well-known/oauth-authorization-server'
  yield [`get ${metadata}`, await send(url, { method: 'GET', path: metadata })]
  const device = await form('/oauth/device_authorization', {})
  yield ['post /oauth/device_authorization', device]
  await call('POST', '/dashboard/api/device', { code: String(valueAt(device.json, 'user_code')), approve: true })
  const device_code = String(valueAt(device.json, 'device_code'))
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
  const token = await form('/oauth/token', { grant_type, device_code })
  yield ['post /oauth/token', token]
  const key = { authorization: `Bearer ${valueAt(token.json, 'access_token')}` }
  for (const path of ['/managed/settings', '/api/oauth/usage'])
    yield [`get ${path}`, await send(url, { method: 'GET', path, headers: key })]
  const sessions = await call('GET', '/v1/sessions')
  yield ['get /v1/sessions', sessions]
  yield ['get /v1/admin/people/{id}/sessions', await call('GET', '/v1/admin/people/ada/sessions')]
  yield ['delete /v1/sessions/{id}', await call('DELETE', `/v1/sessions/${valueAt(sessions.json, 'sessions.0.id')}`)]
  yield ['delete /v1/admin/people/{id}/sessions', await call('DELETE', '/v1/admin/people/ada/sessions')]
  yield ['post /oauth/revoke', await form('/oauth/revoke', { token: String(valueAt(token.json, 'refresh_token')) })]
}
