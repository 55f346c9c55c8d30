import { type Fixture, type FixtureOptions, openFixture } from './fixture.ts'
import { createPluginDirectory, type PluginDirectory } from './plugin-folders.ts'

/** Opens a fixture whose gateway has these plugin folders; `close` removes them too. */
export async function openPluginFixture(
  files: Readonly<Record<string, string>>,
  { env, ...options }: FixtureOptions = {},
): Promise<Fixture & { plugins: PluginDirectory }> {
  let remove = () => {}
  const teardown = (given: () => void) => {
    remove = given
  }
  const plugins = createPluginDirectory({ teardown }, files)
  const fixture = await openFixture({ ...options, env: { SVC_PLUGINS_DIR: plugins.path, ...env } })
  const close = async () => {
    await fixture.close()
    remove()
  }
  return { ...fixture, plugins, close, [Symbol.asyncDispose]: close }
}
