import { messageOf } from '../../core/errors.ts'
import { resolvePipeline } from '../../pipeline/resolve.ts'
import { loadOffline } from '../offline.ts'
import { type Finding, fault, ok } from './finding.ts'

/** Checks that the operator’s own pipeline can run, and that every plugin can be used. */
export async function checkModules(): Promise<Finding[]> {
  const { config, registry, close } = await loadOffline()
  const broken = registry.broken.map(({ reason }) => fault(reason, 'Mend it, or take its folder away.'))
  try {
    const { printed } = resolvePipeline(config.pipeline.default, 'default', { registry, rails: config.pipeline })
    return [ok(`the pipeline is ${printed}`), ...broken]
  } catch (error) {
    const mend = 'Mend `pipeline.default`; `turnpike plugin list` shows what there is.'
    return [fault(`the pipeline cannot run: ${messageOf(error)}`, mend), ...broken]
  } finally {
    await close()
  }
}
