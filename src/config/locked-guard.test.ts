import test from 'ava'
import { createPluginDirectory } from '../../test/support/plugin-folders.ts'
import { BUDGET_NAMES, BUDGETS } from '../core/money/budget-windows.ts'
import { loadConfig } from './load.ts'

test('locked guard: each cap of the operator alone locks the guard, and no other option does', (t) => {
  const place = createPluginDirectory(t)
  const locked = (yaml: string) => loadConfig({ SVC_CONFIG: place.put('turnpike.yaml', yaml) }).config.pipeline.locked
  for (const name of ['per_request', 'per_day', 'per_month', ...BUDGET_NAMES])
    for (const section of ['costs:', 'plugins: {cost-guard:'])
      for (const cap of name in BUDGETS && name.startsWith('time') ? ['5m'] : [5, 0]) {
        const yaml = section === 'costs:' ? `costs: {${name}: ${cap}}` : `plugins: {cost-guard: {${name}: ${cap}}}`
        t.true(locked(yaml).includes('cost-guard'), yaml)
      }
  for (const yaml of ['', 'plugins: {cost-guard: {clamp: true}}', 'plugins: {exact-cache: {per_day: 5}}'])
    t.deepEqual(locked(yaml), [], yaml)
  t.deepEqual(locked('costs: {per_day: 5}\npipeline: {locked: [cost-guard, preserve]}'), ['cost-guard', 'preserve'])
  t.deepEqual(locked('costs: {per_day: 5}\npipeline: {locked: [preserve]}'), ['preserve', 'cost-guard'])
})
