import path from 'node:path'
import test from 'ava'
import { brokenLinks, unreachablePages } from '../../scripts/docs/links.ts'
import { createPluginDirectory as createDirectory } from '../support/plugin-folders.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

test('docs: every link leads somewhere, to its heading too', (t) => {
  t.deepEqual(brokenLinks(ROOT), [])
})

test('docs: the index leads to every page', (t) => {
  t.deepEqual(unreachablePages(ROOT, { folder: 'docs', start: 'docs/README.md' }), [])
})

test('docs: a link, an anchor and a page that lead nowhere are found', (t) => {
  const { path: root } = createDirectory(t, {
    'docs/README.md':
      '# Index\n\n[there](a.md#two-words-1) [gone](b.md) [nowhere](a.md#three) [own](#index) [out](https://x.test/#y)\n',
    'docs/a.md': '# A\n\n## Two words\n\n```sh\n# three\n```\n\n## Two *words*!\n',
    'docs/alone.md': '# Alone\n',
  })
  t.deepEqual(brokenLinks(root), [
    'docs/README.md names docs/b.md, which does not exist',
    'docs/README.md links to docs/a.md#three, which is no heading there',
  ])
  t.deepEqual(unreachablePages(root, { folder: 'docs', start: 'docs/README.md' }), ['docs/alone.md'])
})
