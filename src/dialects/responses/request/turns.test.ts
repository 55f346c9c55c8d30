import test from 'ava'
import { Turns } from './turns.ts'

const result = (tool_use_id: string, content = '') => ({ type: 'tool_result', tool_use_id, content })

test('responses turns: of several results of one call the last counts, at the place of the first', (t) => {
  const turns = new Turns()
  turns.addAssistant([{ type: 'tool_use', id: 'a' }])
  turns.addResult(result('a', 'early'))
  turns.addResult(result('b'))
  turns.addUser([{ type: 'text', text: 'and?' }])
  turns.addResult(result('a', 'late'))
  turns.addResult(result('c'))
  const content = [result('a', 'late'), result('b'), result('c'), { type: 'text', text: 'and?' }]
  t.deepEqual(turns.messages.at(-1), { role: 'user', content })
})

test('responses turns: results are added without a search of those before', (t) => {
  const RESULTS = 2000
  const turns = new Turns()
  let reads = 0
  for (let i = 0; i < RESULTS; i++)
    turns.addResult({
      type: 'tool_result',
      get tool_use_id() {
        reads++
        return `call ${i}`
      },
    })
  t.true(reads <= 2 * RESULTS, `${reads} reads`)
})
