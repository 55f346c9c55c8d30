import type { StepTrace } from './traces.ts'

/** The action of a plugin that did nothing for a request; its details have the `reason`. */
export const IDLE = 'idle'

const LONGEST_REASON = 120

/**
 * Prints the plugins that did nothing, each with its reason, as a dictionary of structured fields (RFC 9651):
 * `prune-tools="12 tools: nothing to prune"`. Empty when there are none.
 */
export function idleModules(trace: readonly StepTrace[]): string {
  let modules = ''
  for (const { module, action, details } of trace) {
    if (action !== IDLE) continue
    const reason = String(details?.reason ?? '').slice(0, LONGEST_REASON)
    modules += `${modules === '' ? '' : ', '}${module}="${reason.replace(/[^ !#-[\]-~]/g, '?')}"`
  }
  return modules
}
