import test from 'ava'
import { prepareStatements } from './prepared.ts'

test('prepared: a text has one name, and texts beyond the bound have none', async (t) => {
  const sent: unknown[] = []
  const client = { query: async (statement: unknown) => void sent.push(statement) } as unknown as Parameters<
    ReturnType<typeof prepareStatements>
  >[0] // safe: nothing else of a client is used
  const send = prepareStatements(2)
  for (const text of ['select $1', 'select 2', 'select 3', 'select $1', 'select 3']) await send(client, text, [7])
  t.deepEqual(sent, [
    { name: 'turnpike_1', text: 'select $1', values: [7] },
    { name: 'turnpike_2', text: 'select 2', values: [7] },
    { text: 'select 3', values: [7] },
    { name: 'turnpike_1', text: 'select $1', values: [7] },
    { text: 'select 3', values: [7] },
  ])
})
