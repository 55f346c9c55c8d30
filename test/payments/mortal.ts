import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import '../support/run-sources.ts'

/*
 * DESIGN. Loaded into a gateway before anything else (`--import`), it prints each await of a payment on stderr, and
 * kills the process at one of them, so that what would have come next never does:
 *
 *   TURNPIKE_DIES=claim      right after the claim has had its effect, and before its result is returned
 *   TURNPIKE_DIES=at claim   right before the claim is made
 *
 * The functions that make what is awaited are put in a wrapper where they are declared: importing modules see no difference.
 */

const SRC = path.resolve(import.meta.dirname, '../../src')
const DIES = process.env.TURNPIKE_DIES

/** The code that is added to a file, by the file. */
const ADDED: Readonly<Record<string, string>> = {
  'stores/sql/payments/payment-store.ts': `createPaymentStore = made(createPaymentStore, ['claim', 'move'])`,
  'stores/sql/payments/session-store.ts': `createSessionStore = made(createSessionStore, ['open', 'reserve', 'commit'])`,
  'commerce/agent-payments/stripe/gateway.ts': `createStripeGateway = made(createStripeGateway, ['authorize', 'capture'])`,
  'commerce/agent-payments/delivered.ts': `wrap(DeliveredAnswers.prototype, ['keep'])`,
  'commerce/agent-payments/await-first-event.ts': `awaitFirstEvent = mortal('first event', awaitFirstEvent)`,
  'providers/providers.ts': `wrap(Providers.prototype, ['complete'])`,
}

const added = new Map(Object.entries(ADDED).map(([file, code]) => [pathToFileURL(path.join(SRC, file)).href, code]))

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const code = added.get(url)
    if (code === undefined) return loaded
    const names = `import { made, mortal, wrap } from '${import.meta.url}'`
    return { ...loaded, source: `${loaded.source}\n${names}\n${code}\n` }
  },
})

type Work = (...args: never[]) => Promise<unknown>

/** Gives the function with deaths around it. */
export function mortal(name: string, work: Work): Work {
  return async function (this: unknown, ...args) {
    const [step] = args as unknown[]
    const await_ = isMove(step) ? `${name} to ${step.to}` : name
    if (DIES === `at ${await_}`) die()
    const result = await work.apply(this, args)
    writeSync(2, `await: ${await_}\n`)
    if (DIES === await_) die()
    return result
  }
}

function isMove(step: unknown): step is { to: string } {
  return typeof step === 'object' && step !== null && 'from' in step && 'to' in step
}

/** Puts deaths around these methods of an object. */
export function wrap(subject: Record<string, Work>, names: readonly string[]): Record<string, Work> {
  for (const name of names) {
    const work = subject[name]
    if (work === undefined) throw new Error(`there is no ${name}`)
    subject[name] = mortal(name, work)
  }
  return subject
}

/** Gives a function that makes objects with deaths around these methods. */
export function made<Args extends unknown[]>(
  make: (...args: Args) => Record<string, Work>,
  names: readonly string[],
): (...args: Args) => Record<string, Work> {
  return (...args) => wrap(make(...args), names)
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal may take a moment; nothing else happens in it.
  for (;;);
}
