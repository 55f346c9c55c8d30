import { createPluginDirectory, type PluginDirectory } from './plugin-folders.ts'
import { openStage, type Stage, type StageOptions } from './stage.ts'

/** Opens a stage whose gateway has these plugin folders; `close` removes them too. */
export async function openPluginStage(
  files: Readonly<Record<string, string>>,
  { env, ...options }: StageOptions = {},
): Promise<Stage & { plugins: PluginDirectory }> {
  let remove = () => {}
  const teardown = (given: () => void) => {
    remove = given
  }
  const plugins = createPluginDirectory({ teardown }, files)
  const stage = await openStage({ ...options, env: { SVC_PLUGINS_DIR: plugins.path, ...env } })
  const close = async () => {
    await stage.close()
    remove()
  }
  return { ...stage, plugins, close, [Symbol.asyncDispose]: close }
}
