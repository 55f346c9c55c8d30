import { definePlugin, type Exchange, GatewayError, type PluginContext } from 'turnpike/plugin'
import type { PreservedText } from 'turnpike/plugin/bytes'
import { declare } from './declare.ts'
import { Refusal } from './expression.ts'
import { options, type PreserveOptions } from './options.ts'
import { type PreserveRules, rulesOf, withHeader } from './rules.ts'
import { Searches } from './searches.ts'
import { type Held, hold, missing } from './verify.ts'

const PER_REQUEST = ['tools', 'ranges', 'pattern', 'last_turns', 'report'] as const

export default definePlugin({
  name: 'preserve',
  summary: 'Protects pins, tools, messages and matches from plugins that change texts, and checks that they survived.',
  options,
  perRequest: PER_REQUEST,
  // Every caller option only adds to the operator's.
  tightening: PER_REQUEST,
  needs: ['log', 'clock'],
  // A guard: a failure here must not lose declared texts.
  onError: 'refuse',
  setup(operators, { log, clock }) {
    const searches = new Searches({ clock, log, operators: rulesOf(operators, operators).patterns })
    return {
      middleware: (effective) => {
        const rules = rulesOf(operators, effective)
        const isReported = Boolean(operators.report) || Boolean(effective.report)
        return async function preserve(ctx, next) {
          const { exchange } = ctx.state
          const header = exchange.headers['x-svc-preserve']
          const all = header === undefined ? rules : withHeader(rules, header)
          const preserved = await declaredIn(exchange, all, searches)
          if (preserved.length === 0) exchange.idle('nothing to preserve')
          else {
            exchange.note('declared', { texts: preserved.length })
            exchange.preserve(preserved)
          }
          if (!isReported) return next()
          const restored: string[] = []
          watch(exchange, hold(exchange.request, preserved), {
            violation: effective.violation,
            onViolation(module, lost) {
              restored.push(module)
              log.warn({ module, texts: lost.length, reason: lost[0]?.text.reason }, 'preserve.violated')
            },
          })
          await next()
          report(ctx, { texts: preserved.length, restored })
        }
      },
      close: () => searches.close(),
    }
  },
})

/** Returns the declared texts. Throws `invalid_request` for invalid expressions, and for too many texts. */
async function declaredIn(exchange: Exchange, rules: PreserveRules, searches: Searches): Promise<PreservedText[]> {
  const searcher = { scope: exchange.caller.scope, signal: exchange.signal }
  try {
    return await declare(exchange.request, rules, (texts, pattern) =>
      exchange.withoutTimeout(searches.find(texts, pattern, searcher)),
    )
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new GatewayError('invalid_request', `Module \`preserve\`: ${error.message}`, { cause: error })
  }
}

interface Watch {
  readonly violation: PreserveOptions['violation']
  readonly onViolation: (module: string, lost: readonly Held[]) => void
}

/** Checks every later edit before it takes effect, so that no declared text is lost. */
function watch(exchange: Exchange, held: readonly Held[], { violation, onViolation }: Watch): void {
  exchange.watchEdits((after, module) => {
    const lost = missing(after, held)
    if (lost.length === 0) return
    onViolation(module, lost)
    const what = `Module \`${module}\` did not keep ${lost.length} of ${held.length} declared texts (${lost[0]?.text.reason}).`
    if (violation === 'refuse') throw new GatewayError('service_unavailable', what)
    // The plugin fails by this, and is bypassed with all its edits.
    throw new Error(what)
  })
}

function report(ctx: PluginContext, { texts, restored }: { texts: number; restored: readonly string[] }): void {
  const modules = restored.length === 0 ? '' : `, restored=${[...new Set(restored)].join(' ')}`
  ctx.set('x-svc-preserve', `texts=${texts}, kept=${texts}${modules}`)
  ctx.state.exchange.note(restored.length > 0 ? 'restored' : 'kept', { texts })
}
