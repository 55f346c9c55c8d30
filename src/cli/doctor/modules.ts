import { messageOf } from '../../core/errors.ts'
import { resolvePipeline } from '../../pipeline/resolve.ts'
import { loadOffline } from '../offline.ts'
import { type Finding, fault, ok } from './finding.ts'

/** Checks that the operator’s pipeline can run, and that every plugin can be loaded. */
export async function checkModules(): Promise<Finding[]> {
  const { config, registry, close } = await loadOffline()
  const broken = registry.broken.map(({ reason }) => fault(reason, 'Fix it, or remove its folder.'))
  try {
    const { printed } = resolvePipeline(config.pipeline.default, 'default', { registry, rails: config.pipeline })
    return [ok(`the pipeline is ${printed}`), ...broken]
  } catch (error) {
    const mend = 'Fix `pipeline.default`; `turnpike plugin list` shows all plugins.'
    return [fault(`the pipeline cannot run: ${messageOf(error)}`, mend), ...broken]
  } finally {
    await close()
  }
}
