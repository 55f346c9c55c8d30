import test from 'ava'
import { BytesReply } from '../core/reply/reply.ts'
import { pathOfModel, readModel, readModelList } from './model-list.ts'

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
