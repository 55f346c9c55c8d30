import test from 'ava'
import type { StoredConversation } from './continued-request.ts'
import { listInputItems } from './input-items.ts'

// Safe: the list reads the input alone.
const conversation = { input: ['a', 'b', 'c', 'd'].map((id) => ({ id })) } as unknown as StoredConversation
const page = (query: string) => listInputItems(conversation, new URLSearchParams(query))

test('input items: a list of exactly the limit has no more, one item beyond it has', (t) => {
  t.like(page('limit=4&order=asc'), { first_id: 'a', last_id: 'd', has_more: false })
  t.like(page('limit=3&order=asc'), { first_id: 'a', last_id: 'c', has_more: true })
  t.like(page('limit=2&after=c'), { first_id: 'b', last_id: 'a', has_more: false })
})
