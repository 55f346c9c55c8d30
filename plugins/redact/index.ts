import { definePlugin } from 'turnpike/plugin'
import { consult } from './detector/consult.ts'
import { createDetector } from './detector/detector.ts'
import { KnownTexts } from './known-texts.ts'
import { LiteralFinder } from './literals.ts'
import { options } from './options.ts'
import { PatternFinder } from './patterns.ts'
import { Placeholders } from './placeholders.ts'
import { policiesOf } from './policy.ts'
import { Redaction } from './redaction.ts'
import { blockedError, figuresOf, hasUnread, headerOf, unreadError, withinBounds } from './report.ts'
import { createRestorer } from './restore.ts'
import { Totals } from './totals.ts'

export default definePlugin({
  name: 'redact',
  summary: 'Replaces secrets and personal data by placeholders on the way to providers, and restores them in replies.',
  options,
  perRequest: ['mode', 'kinds'],
  tightening: ['mode', 'kinds'],
  needs: ['clock', 'deriveKey', 'log'],
  // What was not scanned must not leave.
  onError: 'refuse',
  guardsContent: true,
  routes: [{ method: 'GET', path: '/v1/redact/report' }],
  async setup(operators, { clock, deriveKey, log }) {
    const key = deriveKey('placeholders')
    const words = new LiteralFinder(operators.words.map((text) => ({ text, kind: 'custom' })))
    const patterns = new PatternFinder(operators.patterns)
    const detector = await createDetector(operators.detector)
    const totals = new Totals(clock)
    const known = new KnownTexts()
    return {
      middleware: (effective) => {
        const policyFor = policiesOf(operators, effective, { words, patterns })
        return async function redact(ctx, next) {
          const { exchange } = ctx.state
          const { caller, conversation, signal } = exchange
          const { mode, kinds, createScan } = policyFor(caller.teamId)
          const scan = createScan()
          // A request alone is not worth its hashes.
          const isContinued = conversation.turn > 1
          const redaction = new Redaction(isContinued ? known.remembering(scan, `${caller.scope} ${kinds}`) : scan)
          try {
            withinBounds(redaction, () => redaction.read(exchange))
            if (detector !== undefined)
              await consult(detector, redaction, { signal, isObserved: mode === 'observe', log })
          } catch (error) {
            exchange.note('failed', undefined, figuresOf(mode, redaction.figures))
            throw error
          }
          const placeholders = new Placeholders({ key, caller: caller.scope, conversation: conversation.id })
          if (mode === 'redact' && !redaction.isEmpty) redaction.replace(exchange, placeholders)
          const { figures } = redaction
          totals.add(caller.scope, figures)
          ctx.set('x-svc-redact', headerOf(mode, figures))
          exchange.note(redaction.isEmpty ? 'scanned' : NOTES[mode], undefined, figuresOf(mode, figures))
          if (mode !== 'observe' && operators.unread === 'refuse' && hasUnread(figures)) throw unreadError(figures)
          if (mode === 'block' && !redaction.isEmpty) throw blockedError(figures)
          await next()
          if (placeholders.values.size === 0) return
          const restorer = createRestorer(placeholders.values)
          exchange.mapText(restorer.text, { also: ['citations', 'freeInputs', 'reasoning'] })
          exchange.mapToolInputText(restorer.input)
        }
      },
      routes: { 'GET /v1/redact/report': async ({ caller }) => totals.report(caller.scope) },
      close: () => detector?.close(),
    }
  },
})

const NOTES = { observe: 'observed', redact: 'redacted', block: 'blocked' } as const
