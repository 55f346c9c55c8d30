import test from 'ava'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import type { Provider, RelayCall } from '../core/ports/provider.ts'
import { ModelCatalogue } from './model-catalogue.ts'
import type { Providers } from './providers.ts'

/** Opens a catalogue of one provider, whose list names the call that requested it. */
function open() {
  let calls = 0
  const provider = {
    name: 'house',
    configured: true,
    callerParts: (_, headers) => String(headers['x-account'] ?? ''),
    listModels: async () => [{ id: `m${++calls}` }],
  } satisfies Partial<Provider>
  const providers = {
    usableBy: () => [provider],
    routedModels: [],
    publicName: (_: string, id: string) => id,
  } as unknown as Providers // safe: the catalogue uses nothing else for a list
  const catalogue = new ModelCatalogue(providers, createRecordingLog())
  return async (headers: RelayCall['headers'], credential?: RelayCall['credential']) => {
    const signal = new AbortController().signal
    const call = { method: 'GET', path: '/', query: '', scope: 'a', body: undefined, requestId: 'r' } as const
    const [model] = await catalogue.list({ ...call, headers, credential, signal })
    return model?.id
  }
}

test('model catalogue: a cached list is for the same version, betas and parts of the caller only', async (t) => {
  const list = open()
  const views = [
    {},
    { 'x-account': 'a' },
    { 'x-account': 'b' },
    { 'anthropic-version': '1' },
    { 'anthropic-beta': 'b' },
  ]
  for (const round of [1, 2])
    for (const [index, headers] of views.entries()) t.is(await list(headers), `m${index + 1}`, `round ${round}`)
})

test('model catalogue: the list for a caller’s own credential is neither cached nor taken from the cache', async (t) => {
  const list = open()
  const own = { provider: 'house', secret: 's', header: 'x-api-key' } as unknown as RelayCall['credential'] // safe: only its provider is read
  t.is(await list({}), 'm1')
  t.is(await list({}, own), 'm2')
  t.is(await list({}, own), 'm3')
  t.is(await list({}), 'm1')
})
