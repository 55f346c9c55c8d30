import test from 'ava'
import { principalAxes } from './principal-axes.ts'

test('pruning: principal axes are the directions of largest variance', (t) => {
  const rows = Array.from({ length: 50 }, (_, i) => [Math.sin(i), 10 * Math.cos(7 * i), 0.1 * Math.sin(3 * i)])
  const [first, second] = principalAxes(rows, 2).map((axis) => axis.map(Math.abs))
  t.true((first?.[1] ?? 0) > 0.99)
  t.true((second?.[0] ?? 0) > 0.99)
})
