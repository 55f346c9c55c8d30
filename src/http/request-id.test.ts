import test from 'ava'
import { createRequestId } from './request-id.ts'

const NOW_MS = 1_790_000_000_000

test('request ids: have 32 hexadecimal digits, and sort by time', (t) => {
  const ids = Array.from({ length: 1000 }, (_, ms) => createRequestId(NOW_MS + ms))
  for (const id of ids) t.regex(id, /^req_[0-9a-f]{32}$/)
  t.deepEqual(ids.toSorted(), ids)
})

test('request ids: those of one millisecond differ, and end in random digits', (t) => {
  const ends = Array.from({ length: 1000 }, () => createRequestId(NOW_MS).slice('req_'.length + 12))
  t.is(new Set(ends).size, 1000)
  t.true(new Set(ends.map((end) => end.slice(0, 2))).size > 100)
})
