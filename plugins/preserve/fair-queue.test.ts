import test from 'ava'
import { FairQueue } from './fair-queue.ts'

test('fair queue: the caller that has used least comes first, with its oldest job', (t) => {
  const used: Record<string, number> = { greedy: 100, small: 1 }
  const queue = new FairQueue<string>((scope) => used[scope] ?? 0)
  for (const job of ['g1', 'g2']) queue.push('greedy', job)
  for (const job of ['s1', 's2', 's3']) queue.push('small', job)
  queue.push('new', 'n1')
  queue.remove('small', 's2')
  queue.remove('small', 's2')
  t.deepEqual([queue.size, queue.sizeOf('small')], [5, 2])
  const taken = [queue.take(), queue.take()]
  used.small = 200
  for (let job = queue.take(); job !== undefined; job = queue.take()) taken.push(job)
  t.deepEqual(taken, ['n1', 's1', 'g1', 'g2', 's3'])
  t.deepEqual([queue.size, queue.sizeOf('greedy')], [0, 0])
})
