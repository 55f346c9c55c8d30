import test from 'ava'
import { BytesReply } from '../../core/reply/reply.ts'
import { addLeftOut, betasOf, CLIENT_BETAS } from './betas.ts'

test('betas: each is listed once, from headers of either name and any number of lines', (t) => {
  t.deepEqual(betasOf({ 'anthropic-beta': ' a-1, b-2,,a-1 ' }, []).kept, ['a-1', 'b-2'])
  t.deepEqual(betasOf({ 'provider-beta': ['a-1', 'b-2,c-3'] }, []).kept, ['a-1', 'b-2', 'c-3'])
  t.deepEqual(betasOf({ 'anthropic-beta': 'a-1', 'provider-beta': 'b-2,a-1' }, []).kept, ['a-1', 'b-2'])
  t.deepEqual(betasOf({}, CLIENT_BETAS), { kept: [], leftOut: [] })
})

test('betas: a pattern removes the beta it names, and with a star every beta with its prefix', (t) => {
  const headers = { 'anthropic-beta': 'claude-code-1,oauth-2,claude-codes,exact,exact-1' }
  t.deepEqual(betasOf(headers, [...CLIENT_BETAS, 'exact']), {
    kept: ['claude-codes', 'exact-1'],
    leftOut: ['claude-code-1', 'oauth-2', 'exact'],
  })
})

test('betas: removed betas are reported with the other dropped fields', (t) => {
  const reply = new BytesReply(200, { 'x-svc-dropped': 'top_k' }, Buffer.alloc(0))
  t.is(addLeftOut(reply, ['a', 'b']).headers['x-svc-dropped'], 'top_k, anthropic-beta.a, anthropic-beta.b')
  t.deepEqual(addLeftOut(new BytesReply(200, {}, Buffer.alloc(0)), []).headers, {})
})
