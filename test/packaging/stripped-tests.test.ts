import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { stripTests } from '../../scripts/bundle/stripped-tests.ts'

test('tests: packages that are installed within a folder of tests are not stripped', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'turnpike-stripped-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  const put = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
    writeFileSync(path.join(root, file), text)
  }
  put('test/docs/a.test.ts', 'export const one: number = 1\n')
  put('test/witnesses/node_modules/package/index.ts', 'enum CannotBeStripped {}\n')
  t.deepEqual(globSync('**/*.js', { cwd: stripTests(root) }), ['test/docs/a.test.ts.js'])
})
