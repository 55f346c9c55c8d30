import { ServerResponse } from 'node:http'
import test from 'ava'
import { GatewayError } from '../core/errors.ts'
import { jsonReply } from '../core/reply/reply.ts'
import { Exchange } from '../core/request/exchange.ts'
import type { ExchangeState } from '../core/request/exchange-state.ts'
import type { PluginMiddleware } from '../plugin/contract.ts'
import { type BoundStep, compose } from './compose.ts'
import type { PipelineContext } from './context.ts'

const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }

function contextFor(bytes: number): PipelineContext {
  const state = {
    id: 'req_1',
    client: { document: { bytes: Buffer.alloc(bytes) } },
    signal: new AbortController().signal,
    reply: undefined,
    trace: [],
    edits: [],
    supersededReplies: [],
    stored: {},
  } as unknown as ExchangeState
  const res = new ServerResponse({ method: 'POST', httpVersionMajor: 1, httpVersionMinor: 1 } as never)
  const set = (name: string, value: string) => res.setHeader(name, value)
  return { state: { exchange: new Exchange(state) }, res, response: {}, set } as unknown as PipelineContext
}

const answer = async (ctx: PipelineContext): Promise<void> => {
  ctx.state.exchange.reply = jsonReply({ from: 'provider' })
}

function step(name: string, middleware: PluginMiddleware, onError: BoundStep['onError'] = 'bypass'): BoundStep {
  return { name, onError, middleware, enter() {}, leave() {} }
}

async function run(
  steps: BoundStep[],
  { upstream = answer, stepTimeoutMs = 1000, bytes = 0 } = {},
): Promise<PipelineContext> {
  const ctx = contextFor(bytes)
  await compose({ steps, upstream, stepTimeoutMs, log })(ctx)
  return ctx
}

const bodyOf = ({ state: { exchange } }: PipelineContext): unknown =>
  exchange.reply?.kind === 'bytes' ? JSON.parse(exchange.reply.bytes.toString()) : undefined

const pass: PluginMiddleware = (_ctx, next) => next()

test('compose: runs the steps in order, in and out', async (t) => {
  const order: string[] = []
  const tracing = (name: string) =>
    step(name, async (_ctx, next) => {
      order.push(`${name} in`)
      await next()
      order.push(`${name} out`)
    })
  await run([tracing('a'), tracing('b')])
  t.deepEqual(order, ['a in', 'b in', 'b out', 'a out'])
})

test('compose: others have a turn between two steps that read a large body, and none between two that read a small one', async (t) => {
  for (const [bytes, turns] of [
    [2 << 20, ['others', 'b', 'others', 'provider']],
    [1 << 10, ['b', 'provider']],
  ] as const) {
    const order: string[] = []
    const others = () => setImmediate(() => order.push('others'))
    const a = step('a', (_ctx, next) => {
      others()
      return next()
    })
    const b = step('b', (_ctx, next) => {
      order.push('b')
      others()
      return next()
    })
    const upstream = async (ctx: PipelineContext) => {
      order.push('provider')
      await answer(ctx)
    }
    await run([a, b], { bytes, upstream })
    t.deepEqual(order, [...turns])
  }
})

test('compose: a step that replies prevents the rest from running', async (t) => {
  const hit = step('hit', async (ctx) => {
    ctx.state.exchange.reply = jsonReply({ from: 'cache' })
  })
  const ctx = await run([hit, step('late', () => t.fail() as never)], { upstream: () => t.fail() as never })
  t.deepEqual(bodyOf(ctx), { from: 'cache' })
})

test('compose: a bypassed step leaves neither header nor trace of its edits, and the request continues', async (t) => {
  const broken = step('broken', async (ctx) => {
    ctx.set('x-broken', 'yes')
    await ctx.state.exchange.withSignal(AbortSignal.abort(), () => Promise.reject(new Error('boom')))
  })
  const ctx = await run([step('outer', pass), broken])
  t.deepEqual(bodyOf(ctx), { from: 'provider' })
  t.is(ctx.res.getHeader('x-broken'), undefined)
  t.deepEqual(
    ctx.state.exchange.trace.map(({ module, action }) => `${module}:${action}`),
    ['outer:ran', 'broken:bypassed'],
  )
})

test('compose: a header set before a bypassed step has its old value again', async (t) => {
  const first = step('first', async (ctx, next) => {
    ctx.set('x-shared', 'first')
    await next()
  })
  const broken = step('broken', async (ctx) => {
    ctx.set('x-shared', 'broken')
    throw new Error('boom')
  })
  t.is((await run([first, broken])).res.getHeader('x-shared'), 'first')
})

test('compose: a guard that throws fails the request closed and does not reveal its reason', async (t) => {
  const guard = step('guard', async () => Promise.reject(new Error('boom')), 'refuse')
  const error = await t.throwsAsync(run([guard]), { instanceOf: GatewayError })
  t.is(error.status, 503)
  t.false(error.message.includes('boom'))
})

test('compose: a GatewayError is a reply, whatever onError is', async (t) => {
  const refusing = step('refusing', async () => {
    throw new GatewayError('permission_error', 'not you')
  })
  t.is((await t.throwsAsync(run([refusing]), { instanceOf: GatewayError })).code, 'permission_error')
})

test('compose: an error of downstream passes through a step unchanged', async (t) => {
  const failure = new GatewayError('upstream_error', 'down')
  const error = await t.throwsAsync(
    run([step('a', pass), step('b', pass, 'refuse')], { upstream: () => Promise.reject(failure) }),
  )
  t.is(error, failure)
})

test('compose: a step that hangs times out, and can change nothing afterwards', async (t) => {
  let wake = (): void => {}
  let late: Promise<unknown> | undefined
  const hanging = step('hanging', async (ctx, next) => {
    const { exchange } = ctx.state
    await new Promise<void>((resolve) => {
      wake = resolve
    })
    exchange.note('awake')
    late = t.throwsAsync(async () => {
      exchange.reply = jsonReply({ from: 'the dead' })
    })
    await t.throwsAsync(() => next(), { message: /too late/ })
  })
  const ctx = await run([hanging], { stepTimeoutMs: 5 })
  wake()
  await new Promise(setImmediate)
  await late
  t.deepEqual(bodyOf(ctx), { from: 'provider' })
  t.is(ctx.state.exchange.trace[0]?.action, 'bypassed')
})

test('compose: a guard that hangs fails closed', async (t) => {
  const guard = step('guard', () => new Promise(() => {}), 'refuse')
  t.is((await t.throwsAsync(run([guard], { stepTimeoutMs: 5 }), { instanceOf: GatewayError })).status, 503)
})

test('compose: a wait that a step declares does not count against its time', async (t) => {
  const patient = step('patient', async (ctx, next) => {
    await ctx.state.exchange.withoutTimeout(new Promise((resolve) => setTimeout(resolve, 40)))
    await next()
  })
  t.is((await run([patient], { stepTimeoutMs: 10 })).state.exchange.trace[0]?.action, 'ran')
})

test('compose: a step that hangs after a declared wait times out', async (t) => {
  const hanging = step('hanging', async (ctx) => {
    await ctx.state.exchange.withoutTimeout(new Promise((resolve) => setTimeout(resolve, 10)))
    await new Promise(() => {})
  })
  const ctx = await run([hanging], { stepTimeoutMs: 5 })
  t.is(ctx.state.exchange.trace[0]?.action, 'bypassed')
  t.deepEqual(bodyOf(ctx), { from: 'provider' })
})

test('compose: time after next() does not count against a step', async (t) => {
  const slow = async (ctx: PipelineContext): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 40))
    await answer(ctx)
  }
  t.is((await run([step('a', pass)], { stepTimeoutMs: 5, upstream: slow })).state.exchange.trace[0]?.action, 'ran')
})

test('compose: a forgotten await is an error, and the reply still comes from downstream', async (t) => {
  const careless = step('careless', async (_ctx, next) => void next())
  const slow = async (ctx: PipelineContext): Promise<void> => {
    await new Promise(setImmediate)
    await answer(ctx)
  }
  const ctx = await run([careless], { upstream: slow })
  t.is(ctx.state.exchange.trace[0]?.action, 'bypassed')
  t.deepEqual(bodyOf(ctx), { from: 'provider' })
  const guard = { ...careless, onError: 'refuse' as const }
  await t.throwsAsync(run([guard], { upstream: slow }), { instanceOf: GatewayError })
})

test('compose: a step that fails beside a running downstream is bypassed once that has ended: it runs once', async (t) => {
  let calls = 0
  const failing = step('failing', async (_ctx, next) => {
    next().catch(() => {})
    throw new Error('broken')
  })
  const slow = async (ctx: PipelineContext): Promise<void> => {
    calls++
    await new Promise(setImmediate)
    await answer(ctx)
  }
  const ctx = await run([failing], { upstream: slow })
  t.is(calls, 1)
  t.is(ctx.state.exchange.trace[0]?.action, 'bypassed')
  t.deepEqual(bodyOf(ctx), { from: 'provider' })
})

test('compose: a GatewayError beside a running downstream abandons it: its later reply is refused', async (t) => {
  const goesOn = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const late = async ({ state: { exchange } }: PipelineContext): Promise<void> => {
    await goesOn.promise
    t.throws(() => Object.assign(exchange, { reply: jsonReply({}) }), { message: /went on without it/ })
    ended.resolve()
  }
  const refusing = step('refusing', async (_ctx, next) => {
    next().catch(() => {})
    throw new GatewayError('permission_error', 'not you')
  })
  await t.throwsAsync(run([refusing, step('inner', pass)], { upstream: late }), { instanceOf: GatewayError })
  goesOn.resolve()
  await ended.promise
})

test('compose: a second next() is refused and downstream runs once', async (t) => {
  let calls = 0
  const twice = step('twice', async (_ctx, next) => {
    await next()
    await t.throwsAsync(() => next(), { message: /twice/ })
  })
  await run([twice], {
    upstream: async (ctx) => {
      calls++
      await answer(ctx)
    },
  })
  t.is(calls, 1)
})

test('compose: a step that neither replies nor calls next() is bypassed or refused', async (t) => {
  const idle = step('idle', async () => {})
  t.deepEqual(bodyOf(await run([idle])), { from: 'provider' })
  await t.throwsAsync(run([{ ...idle, onError: 'refuse' }]), { instanceOf: GatewayError })
})

test('compose: a step may turn a failure of downstream into a reply', async (t) => {
  const rescue = step('rescue', async (ctx, next) => {
    await next().catch(() => {
      ctx.state.exchange.reply = jsonReply({ from: 'rescue' })
    })
  })
  t.deepEqual(bodyOf(await run([rescue], { upstream: () => Promise.reject(new Error('down')) })), { from: 'rescue' })
})

test('compose: an optimiser that throws after next() leaves the reply unchanged', async (t) => {
  const clumsy = step('clumsy', async (_ctx, next) => {
    await next()
    throw new Error('boom')
  })
  t.deepEqual(bodyOf(await run([clumsy])), { from: 'provider' })
})
