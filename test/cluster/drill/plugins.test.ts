import { cpSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bearer, createKey } from '../../support/accounts.ts'
import { eventually } from '../../support/eventually.ts'
import { ask, send } from '../../support/http-client.ts'
import { createPluginDirectory, pluginSource } from '../../support/plugin-folders.ts'
import { clusterTest, openCluster } from '../cluster.ts'

const spoken = (word: string) => pluginSource('fresh', { run: `ctx.set('x-word', '${word}'); await next()` })

clusterTest(
  'plugins: a folder that is dropped into every host is installed, reloaded and removed on all',
  async (t) => {
    t.timeout(300_000)
    const cluster = await openCluster({ config: { plugins: { watch: true } } })
    const { key } = await createKey(cluster, 'alice')
    const wordsOf = () =>
      Promise.all(
        cluster.gateways.map(async ({ url }) => {
          const reply = await send(url, { body: ask('hi'), headers: { ...bearer(key), 'x-svc-pipe': 'fresh' } })
          return reply.status === 200 ? reply.headers['x-word'] : reply.status
        }),
      )
    const all = (expected: unknown) =>
      eventually(async () => (await wordsOf()).every((word) => word === expected), `all say ${expected}`)
    await all(400)
    const source = createPluginDirectory(t, { 'fresh/index.ts': spoken('one') })
    for (const folder of cluster.pluginFolders) cpSync(source.path, folder, { recursive: true })
    await all('one')
    for (const folder of cluster.pluginFolders) writeFileSync(path.join(folder, 'fresh/index.ts'), spoken('two'))
    await all('two')
    for (const folder of cluster.pluginFolders) rmSync(path.join(folder, 'fresh'), { recursive: true })
    await all(400)
    t.pass()
  },
)
