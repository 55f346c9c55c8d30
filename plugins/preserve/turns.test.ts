import test from 'ava'
import { Turns } from './turns.ts'

test('turns: the caller that has used least comes first, with its oldest job', (t) => {
  const used: Record<string, number> = { greedy: 100, small: 1 }
  const turns = new Turns<string>((scope) => used[scope] ?? 0)
  for (const job of ['g1', 'g2']) turns.push('greedy', job)
  for (const job of ['s1', 's2', 's3']) turns.push('small', job)
  turns.push('new', 'n1')
  turns.remove('small', 's2')
  turns.remove('small', 's2')
  t.deepEqual([turns.size, turns.sizeOf('small')], [5, 2])
  const taken = [turns.take(), turns.take()]
  used.small = 200
  for (let job = turns.take(); job !== undefined; job = turns.take()) taken.push(job)
  t.deepEqual(taken, ['n1', 's1', 'g1', 'g2', 's3'])
  t.deepEqual([turns.size, turns.sizeOf('greedy')], [0, 0])
})
