import test from 'ava'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import { GatewayError } from '../core/errors.ts'
import { CredentialLookup } from './credential-lookup.ts'

const never = new AbortController().signal
const lookup = (find: () => Promise<string>, timeoutMs = 10_000, log = createRecordingLog()) =>
  new CredentialLookup({ provider: 'cloud', find, missing: 'set KEY', log, timeoutMs })

test('credential lookup: a credential that never existed is an authentication error with the setting to add', async (t) => {
  const search = lookup(async () => {
    throw Object.assign(new Error('nothing found'), { config: { headers: { authorization: 'hush' } } })
  })
  const error = await t.throwsAsync(search.get(never), { instanceOf: GatewayError })
  t.is(error.code, 'authentication_error')
  t.is(error.message, 'No credential for provider cloud: set KEY.')
  t.deepEqual(Object.entries(error.cause as object), [])
  t.false(search.isAvailable)
})

test('credential lookup: a failed renewal is a failure of the provider', async (t) => {
  const results = [Promise.resolve('key'), Promise.reject(new Error('the service is down'))]
  const search = lookup(() => results.shift() ?? Promise.resolve('key'))
  t.is(await search.get(never), 'key')
  await t.throwsAsync(search.get(never), { code: 'upstream_error' })
  t.is(await search.get(never), 'key')
})

test('credential lookup: a slow lookup times out, and an abandoned one is cancelled', async (t) => {
  const search = lookup(() => new Promise(() => {}), 1)
  await t.throwsAsync(search.get(never), { code: 'authentication_error' })
  const gone = new AbortController()
  const waiting = lookup(() => new Promise(() => {})).get(gone.signal)
  gone.abort(new Error('left'))
  await t.throwsAsync(waiting, { message: 'left' })
  await t.throwsAsync(lookup(async () => 'key').get(gone.signal), { message: 'left' })
})

test('credential lookup: a probe logs and throws nothing', async (t) => {
  const log = createRecordingLog()
  await lookup(() => Promise.reject(new Error('nothing found')), 10_000, log).probe()
  t.deepEqual(log.lines, [
    { level: 'warn', event: 'provider_credential.missing', fields: { provider: 'cloud', reason: 'nothing found' } },
  ])
})
