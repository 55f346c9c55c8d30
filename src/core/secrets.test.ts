import test from 'ava'
import { hideSecrets, holdsSecret } from './secrets.ts'

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl'

for (const secret of [
  'svc_live_6ZkAAAAAAAAAAAAAAAAAAAAAAAAAAAQx0aB3xY',
  'sk_live_51Habcdefghijk',
  'sk_test_51Habcdefghijk',
  'sk-ant-api03-abcdefghijklmnop',
  'AIzaSyA0123456789abcdefghijk',
  'whsec_0123456789abcdef01',
  JWT,
]) {
  test(`secrets: ${secret.slice(0, 8)}… is hidden wherever it is`, (t) => {
    t.is(hideSecrets(`/v1/keys/${secret}?a`), '/v1/keys/[hidden]?a')
    t.true(holdsSecret(`models/${secret}`))
  })
}

test('secrets: the request’s credentials are hidden whatever their form', (t) => {
  t.is(hideSecrets('got `correct horse battery`', ['correct horse battery']), 'got `[hidden]`')
  t.true(holdsSecret('x correct horse battery', ['correct horse battery']))
})

test('secrets: the request’s credentials are hidden in JSON too, which escapes it', (t) => {
  const secret = 'correct "horse" \\battery'
  t.is(hideSecrets(JSON.stringify({ message: `got ${secret}` }), [secret]), '{"message":"got [hidden]"}')
})

test('secrets: names of models and plugins, and ids, are not hidden', (t) => {
  for (const name of [
    'claude-sonnet-4-5-20250929',
    'anthropic/claude-opus-4-1',
    'exact-cache,semantic-cache?threshold=0.95,cost-guard?per_request=0.25',
    'req_0123456789abcdef0123456789abcdef',
    'key_0123456789abcdefghijkl',
    'a task-with-many-hyphens-and-words',
    'ft:gpt-4o-mini:my-org:custom_suffix:id',
  ]) {
    t.is(hideSecrets(name, ['short']), name)
    t.false(holdsSecret(name, ['short']))
  }
})
