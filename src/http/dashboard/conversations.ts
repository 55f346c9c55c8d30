import { Readable } from 'node:stream'
import type { Middleware } from 'koa'
import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import type { ConversationReader, ConversationTurn, Run } from '../../core/telemetry/conversations.ts'
import type { Scopes } from '../../core/telemetry/telemetry.ts'
import type { RequestState } from '../request-context.ts'
import { type FileViewer, pages } from './file-pages.ts'
import { limit, readQuery, wholeNumber } from './query.ts'
import type { ReadViewer } from './viewer.ts'

/** Dependencies of the routes of conversations. */
export interface ConversationRouteOptions {
  readonly viewer: ReadViewer
  readonly telemetry: ConversationReader
  /** Set where bodies are captured. */
  readonly captures: unknown
}

const BASE = '/dashboard/api/conversations/'
const EXPORT = '/turns.jsonl'
const after = z.string().max(100).optional()

const listQuery = z.strictObject({
  after,
  limit,
  text: z.string().max(200).optional(),
  client: z.string().max(100).optional(),
  fromMs: wholeNumber.optional(),
})
const turnQuery = z.strictObject({ after, limit })

/** `GET /dashboard/api/conversations`: lists the viewer's conversations, newest first, with their sub-agents below them. */
export function conversationsRoute({ viewer, telemetry }: ConversationRouteOptions): Middleware<RequestState> {
  return async function conversations(ctx) {
    const { scopes } = await viewer(ctx)
    const page = readQuery(listQuery, ctx)
    const found = await telemetry.runs(scopes, page)
    ctx.body = { data: found, has_more: found.length === page.limit }
  }
}

/** `GET /dashboard/api/conversations/:id`: returns a conversation and a page of its turns, oldest first. */
export function conversationRoute({ viewer, telemetry, captures }: ConversationRouteOptions): Middleware<RequestState> {
  return async function conversation(ctx) {
    const { scopes } = await viewer(ctx)
    const page = readQuery(turnQuery, ctx)
    const id = ctx.path.slice(BASE.length)
    const [found, turns] = await Promise.all([findRun(telemetry, scopes, id), telemetry.turns(scopes, id, page)])
    ctx.body = {
      conversation: found,
      turns: { data: turns, has_more: turns.length === page.limit },
      bodies: captures === undefined ? null : '/dashboard/api/requests/{id}',
    }
  }
}

/** `GET /dashboard/api/conversations/:id/turns.jsonl`: streams all turns of a conversation, then those of each sub-agent. */
export function turnsFileRoute({ viewer, telemetry }: ConversationRouteOptions): Middleware<RequestState> {
  return async function turnsFile(ctx) {
    const user = await viewer(ctx)
    const id = ctx.path.slice(BASE.length, -EXPORT.length)
    const run = await findRun(telemetry, user.scopes, id)
    ctx.type = 'application/jsonl'
    ctx.attachment(`${id}.jsonl`)
    ctx.body = Readable.from(linesOf(run.id, { telemetry, seenBy: { ctx, user, viewer } }))
  }
}

interface Source {
  readonly telemetry: ConversationReader
  readonly seenBy: FileViewer
}

/** Prints the turns of a conversation and of all sub-agents below it, page by page, in bounded memory. */
async function* linesOf(id: string, source: Source): AsyncGenerator<Buffer> {
  yield* turnsOf(id, source)
  const { telemetry, seenBy } = source
  const { scopes } = seenBy.user
  const agents = pages<string>(seenBy, (after, limit) => telemetry.agentIds(scopes, id, { after, limit }))
  for await (const ids of agents) for (const agent of ids) yield* turnsOf(agent, source)
}

async function* turnsOf(id: string, { telemetry, seenBy }: Source): AsyncGenerator<Buffer> {
  const { scopes } = seenBy.user
  const turns = pages<ConversationTurn>(seenBy, (after, limit) =>
    telemetry.turns(scopes, id, { after: after?.id, limit }),
  )
  for await (const page of turns) yield Buffer.from(page.map((turn) => `${JSON.stringify(turn)}\n`).join(''))
}

async function findRun(telemetry: ConversationReader, scopes: Scopes, id: string): Promise<Run> {
  const found = await telemetry.findRun(scopes, id)
  if (found !== undefined) return found
  throw new GatewayError(
    'not_found',
    'There is no such conversation of yours. It appears a moment after its first reply.',
  )
}
