import test from 'ava'
import { runCommand } from '../support/command-line.ts'
import { parseJson, valueAt } from '../support/json.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'

test('cli: size turns traffic into machines', async (t) => {
  const { code, stdout } = await runCommand(['size', '--set', 'requests_per_second=5'])
  t.is(code, 0)
  t.regex(stdout, /^5 requests\/s of 60 KB, 15\/s in a burst; 90 % streams of 200 events$/m)
  t.regex(stdout, /^gateway +1 \+ 1 spare machines of 4 cores with --workers 4/m)
  t.regex(stdout, /^PostgreSQL +\d/m)
})

test('cli: size reads a description, and --set overrides it', async (t) => {
  const file = createPluginDirectory(t).put(
    'traffic.yaml',
    'requests_per_second: 2000\nhits: 0.5\nmachine: { cores: 8 }',
  )
  const run = async (...more: string[]) => {
    const { code, stdout } = await runCommand(['size', file, '--json', ...more])
    t.is(code, 0)
    return parseJson(stdout)
  }
  const [many, few] = [await run(), await run('--set', 'requests_per_second=20', '-s', 'machine.memory_gigabytes=16')]
  t.like(valueAt(few, 'traffic'), { requests_per_second: 20, hits: 0.5, machine: { cores: 8, memory_gigabytes: 16 } })
  t.true(Number(valueAt(many, 'plan.machines')) > Number(valueAt(few, 'plan.machines')))
})

test('cli: size names every field that cannot be used', async (t) => {
  const { code, stderr, stdout } = await runCommand(['size', '-s', 'request_per_second=1', '-s', 'hits=2'])
  t.is(code, 2)
  t.regex(stderr, /requests_per_second: .*expected number/)
  t.regex(stderr, /hits: .*<=1/)
  t.regex(stderr, /unknown field `request_per_second`\. Did you mean `requests_per_second`\?/)
  t.is(stdout, '')
})

test('cli: size --fields lists what describes traffic', async (t) => {
  const { stdout } = await runCommand(['size', '--fields'])
  t.regex(stdout, /^requests_per_second: \(needed\)\n {4}Requests a second/m)
  t.regex(stdout, /^machine\.cores: 4$/m)
})
