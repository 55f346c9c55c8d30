import { messageOf } from '../../core/errors.ts'
import { resolvePipeline } from '../../pipeline/resolve.ts'
import { loadOffline } from '../offline.ts'
import { type Finding, fault, ok } from './finding.ts'

/** Whether the operator’s own pipeline can run. A plugin that is broken, and that nobody named, is told in the log. */
export async function checkModules(): Promise<Finding> {
  const { config, registry, close } = await loadOffline()
  try {
    const { printed } = resolvePipeline(config.pipeline.default, 'default', { registry, rails: config.pipeline })
    return ok(`the pipeline is ${printed}`)
  } catch (error) {
    return fault(
      `the pipeline cannot run: ${messageOf(error)}`,
      'Mend `pipeline.default`; `turnpike plugin list` shows what there is.',
    )
  } finally {
    await close()
  }
}
