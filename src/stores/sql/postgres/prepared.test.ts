import test from 'ava'
import { prepareStatements } from './prepared.ts'

type Client = Parameters<ReturnType<typeof prepareStatements>>[0]

test('prepared: a text has one name on a connection, another on the next, and none beyond the bound', async (t) => {
  const open = () => {
    const names: (string | undefined)[] = []
    const query = async ({ name }: { name?: string }) => void names.push(name)
    return { names, client: { query } as unknown as Client } // safe: nothing else of a client is used
  }
  const [one, other] = [open(), open()]
  const send = prepareStatements(2)
  for (const text of ['select $1', 'select 2', 'select 3', 'select $1']) await send(one.client, text, [7])
  await send(other.client, 'select $1', [7])
  const [first, second, third, again] = one.names
  t.is(again, first)
  t.is(third, undefined)
  t.is(new Set([first, second, third, other.names[0]]).size, 4)
})
