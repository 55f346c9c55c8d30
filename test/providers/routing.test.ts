import test from 'ava'
import { openProviderStage } from '../support/provider-stage.ts'
const a = performance.now()
const stage = await openProviderStage()
console.log('start', performance.now() - a)
test.after.always(() => stage.close())
test('x', async (t) => { const s = stage.scene(); const r = await s.send({ path: '/v1/chat/completions', body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] } }); console.log(r.status, r.text, r.headers, stage.gateway.log()); t.pass() })
