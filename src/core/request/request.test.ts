import test from 'ava'
import { RequestDocument } from './request.ts'

const request = new RequestDocument(
  Buffer.from(
    '{"model":"m","messages": [ {"role":"user","content":"\\u00e9"},{"content":[ {"type":"text", "text":"a"}, 1.0 ]}],"system":null}',
  ),
)

const paths: [path: (string | number)[], raw: string | undefined][] = [
  [['model'], '"m"'],
  [['messages', 0, 'content'], '"\\u00e9"'],
  [['messages', 1], '{"content":[ {"type":"text", "text":"a"}, 1.0 ]}'],
  [['messages', 1, 'content', 0, 'text'], '"a"'],
  [['messages', 1, 'content', 1], '1.0'],
  [['messages', 2], undefined],
  [['messages', 0, 'content', 0], undefined],
  [['messages', 0, 'nothing', 'below'], undefined],
  [['system', 0], undefined],
  [['tools', 0], undefined],
  [[], undefined],
]
for (const [path, raw] of paths) {
  test(`request: the bytes at /${path.join('/')} are ${raw ?? 'nowhere'}`, (t) => {
    t.is(request.rawAt(path)?.toString(), raw)
  })
}

test('request: a message that was read alone is not parsed again with all others', (t) => {
  const history = new RequestDocument(
    Buffer.from('{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}'),
  )
  const last = history.message(1)
  t.deepEqual(last, { role: 'assistant', content: 'b' })
  t.is(history.messages[1], last)
  t.is(history.messages.length, 2)
  t.true(history.messages.includes(history.message(0)))
  t.throws(() => history.message(2), { instanceOf: RangeError, message: 'no message 2 of 2' })
})
