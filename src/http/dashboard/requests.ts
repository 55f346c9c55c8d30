import type { Context, Middleware } from 'koa'
import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import type { CapturedBody, CapturedRequest, CaptureStore } from '../../core/ports/capture.ts'
import type { Clock } from '../../core/ports/clock.ts'
import { nameIn } from '../../core/ports/names.ts'
import {
  type FinishedRequest,
  isAmong,
  type ListedRequest,
  type RequestPage,
  type Telemetry,
} from '../../core/telemetry/telemetry.ts'
import type { Receipts } from '../../journal/receipts/receipts.ts'
import { verifyReceipt } from '../../journal/receipts/verify.ts'
import type { RequestState } from '../request-context.ts'
import { sendCsv, sendJsonl } from './csv.ts'
import { idsOf, type NameOptions, namesFor } from './names.ts'
import { limit, readQuery } from './query.ts'
import { type NamedRequest, REQUEST_COLUMNS } from './request-file.ts'
import { FILTER_SHAPE, toFilter } from './usage-query.ts'
import type { ReadViewer, Viewer } from './viewer.ts'

/** Dependencies of the routes of requests. */
export interface RequestRouteOptions extends NameOptions {
  readonly viewer: ReadViewer
  readonly telemetry: Pick<Telemetry, 'list' | 'find'>
  readonly receipts: Pick<Receipts, 'keys' | 'find'>
  readonly captures: Pick<CaptureStore, 'get'> | undefined
  readonly clock: Clock
}

const BASE = '/dashboard/api/requests/'

const query = z.strictObject({ ...FILTER_SHAPE, after: z.string().max(100).optional(), limit })

/** `GET /dashboard/api/requests`: lists the viewer's requests that match the filter, newest first. */
export function listRoute({ viewer, telemetry, clock }: RequestRouteOptions): Middleware<RequestState> {
  return async function requests(ctx) {
    const { scopes } = await viewer(ctx)
    const page = pageOf(ctx, clock)
    const found = await telemetry.list(scopes, page)
    ctx.body = { data: found, has_more: found.length === page.limit }
  }
}

/** `GET /dashboard/api/requests.csv`: returns all of them as a file. */
export function csvRoute({ viewer, telemetry, names, clock }: RequestRouteOptions): Middleware<RequestState> {
  return async function requestsFile(ctx) {
    const user = await viewer(ctx)
    const page = pageOf(ctx, clock)
    sendCsv<NamedRequest>(ctx, {
      name: 'turnpike-requests.csv',
      user,
      viewer,
      columns: REQUEST_COLUMNS,
      page: async (after, limit) =>
        withNames(await telemetry.list(user.scopes, { ...page, after: after?.id, limit }), user, names),
    })
  }
}

/** `GET /dashboard/api/requests.jsonl`: returns all of them as a file, one in each line: as the list has them, with names. */
export function jsonlRoute({ viewer, telemetry, names, clock }: RequestRouteOptions): Middleware<RequestState> {
  return async function requestLines(ctx) {
    const user = await viewer(ctx)
    const page = pageOf(ctx, clock)
    sendJsonl<NamedRequest>(ctx, {
      name: 'turnpike-requests.jsonl',
      user,
      viewer,
      page: async (after, limit) =>
        withNames(await telemetry.list(user.scopes, { ...page, after: after?.id, limit }), user, names),
    })
  }
}

/** `GET /dashboard/api/requests/:id`: returns the details of a request, by its id or request id. */
export function requestRoute(options: RequestRouteOptions): Middleware<RequestState> {
  const { viewer, telemetry, receipts, captures, names } = options
  return async function request(ctx) {
    const user = await viewer(ctx)
    const found = await telemetry.find(user.scopes, ctx.path.slice(BASE.length))
    if (found === undefined)
      throw new GatewayError('not_found', 'There is no such request of yours. It appears a moment after its reply.')
    const captured = isAmong(found.scope, user.ownScopes) ? await captures?.get(found.id) : undefined
    ctx.body = {
      request: found,
      receipt: await receiptOf(found, receipts),
      names: await namesFor(user, idsOf([found]), names),
      capture: captured?.scope === found.scope ? shown(captured) : null,
    }
  }
}

/** Adds names to a page of rows, by one query. */
async function withNames(
  rows: readonly ListedRequest[],
  viewer: Viewer,
  find: NameOptions['names'],
): Promise<readonly NamedRequest[]> {
  const names = await namesFor(viewer, idsOf(rows), find)
  return rows.map((row) => ({
    ...row,
    keyName: nameIn(names, 'key', row.keyId),
    userName: nameIn(names, 'person', row.userId),
    teamName: nameIn(names, 'team', row.teamId),
  }))
}

/** Returns the receipt, and whether a key of this gateway has signed it; `null` too while the ledger cannot return it. */
async function receiptOf(found: FinishedRequest, receipts: RequestRouteOptions['receipts']) {
  const receipt = found.hasReceipt ? await receipts.find(found.scope, found.id).catch(whileUnavailable) : undefined
  if (receipt === undefined) return null
  const { isValid, checks } = verifyReceipt(JSON.stringify(receipt), receipts.keys.keys)
  return { receipt, isValid, checks }
}

function whileUnavailable(error: unknown): undefined {
  if (!(error instanceof GatewayError) || error.code !== 'service_unavailable') throw error
}

function shown({ request, canonical, versions, reply }: CapturedRequest) {
  return {
    request: textOf(request),
    canonical: canonical === undefined ? null : textOf(canonical),
    versions: versions.map((version) => ({ module: version.module, ...textOf(version) })),
    reply: textOf(reply),
  }
}

function textOf({ bytes, totalBytes }: CapturedBody) {
  return { text: Buffer.from(bytes).toString(), isCut: bytes.length < totalBytes, totalBytes }
}

/** Parses the query. Throws `invalid_request`. */
function pageOf(ctx: Context, clock: Clock): RequestPage {
  const { after, limit, ...given } = readQuery(query, ctx)
  return { ...toFilter(given, clock.nowMs()), after, limit }
}
