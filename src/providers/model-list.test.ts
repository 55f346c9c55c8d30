import test from 'ava'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import type { Provider, RelayCall } from '../core/ports/provider.ts'
import { BytesReply } from '../core/reply/reply.ts'
import { ModelCatalogue } from './model-catalogue.ts'
import { pathOfModel, readModel, readModelList } from './model-list.ts'
import type { Providers } from './providers.ts'

const replyOf = (body: unknown, status = 200) => new BytesReply(status, {}, Buffer.from(JSON.stringify(body)))
const CREATED_MS = Date.UTC(2026, 0, 2, 3, 4, 5)

test('model list: both shapes are read, with the moment of creation in milliseconds', (t) => {
  const data = [
    { type: 'model', id: 'a', display_name: 'A', created_at: '2026-01-02T03:04:05Z' },
    { object: 'model', id: 'b', created: CREATED_MS / 1000, owned_by: 'atlas' },
    { id: 'c', created_at: 'soon' },
  ]
  const [first, second, third] = readModelList(replyOf({ data }), 'p')
  t.like(first, { id: 'a', displayName: 'A', createdAtMs: CREATED_MS, ownedBy: undefined })
  t.like(second, { id: 'b', displayName: undefined, createdAtMs: CREATED_MS, ownedBy: 'atlas' })
  t.like(third, { id: 'c', createdAtMs: undefined })
})

test('model list: entries without an id are left out, and a reply without a list is a failure', (t) => {
  const data = [null, 5, 'x', {}, { id: '' }, { id: 5 }, { id: 'a' }]
  t.deepEqual(
    readModelList(replyOf({ data }), 'p').map(({ id }) => id),
    ['a'],
  )
  for (const [body, status] of [
    [{}, 200],
    [{ data: {} }, 200],
    [[], 200],
    [{ data }, 500],
  ] as const)
    t.throws(() => readModelList(replyOf(body, status), 'p'), { message: new RegExp(`answered ${status} and no list`) })
})

test('model list: one model is read, is unknown, or the reply is a failure', (t) => {
  t.is(readModel(replyOf({ id: 'a' }), 'p')?.id, 'a')
  for (const status of [400, 401, 403, 404]) t.is(readModel(replyOf({ id: 'a' }, status), 'p'), undefined, `${status}`)
  for (const status of [200, 399, 405, 429, 500])
    t.throws(() => readModel(replyOf({ object: 'list', id: 'a' }, status), 'p'), undefined, `${status}`)
})

test('model list: a name cannot leave the path', (t) => {
  t.is(pathOfModel('a/b c'), '/models/a/b%20c')
  t.is(pathOfModel('..a'), '/models/..a')
  for (const id of ['', '.', '..', 'a/../b', 'a//b', '/a', 'a/']) t.is(pathOfModel(id), undefined, id)
})

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
