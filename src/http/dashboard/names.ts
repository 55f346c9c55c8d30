import type { Middleware } from 'koa'
import { z } from 'zod'
import { type FindNames, NAMED, type Named, type Names, toNames } from '../../core/ports/names.ts'
import type { ListedRequest } from '../../core/telemetry/telemetry.ts'
import type { RequestState } from '../request-context.ts'
import { MOST_IN_ONE_LIST, readQuery } from './query.ts'
import type { ReadViewer, Viewer } from './viewer.ts'

/** Ids whose names are wanted. */
export type WantedNames = Readonly<Partial<Record<Named, readonly (string | null | undefined)[]>>>

/** Dependencies of routes that show names. */
export interface NameOptions {
  /** `undefined` in local mode, which has none. */
  readonly names: FindNames | undefined
}

const ids = z
  .union([z.string(), z.array(z.string())])
  .default([])
  .transform((given) => [given].flat())
  .pipe(z.array(z.string().max(200)).max(MOST_IN_ONE_LIST))
const query = z.strictObject({ key: ids, person: ids, team: ids })

/** `GET /dashboard/api/names?key=key_a&key=key_b&person=ada`: returns the names of ids that a page shows. */
export function namesRoute({ viewer, names }: NameOptions & { readonly viewer: ReadViewer }): Middleware<RequestState> {
  return async function showNames(ctx) {
    ctx.body = await namesFor(await viewer(ctx), readQuery(query, ctx), names)
  }
}

/** Finds the names of ids, of those that the viewer may see. */
export async function namesFor(viewer: Viewer, wanted: WantedNames, find: FindNames | undefined): Promise<Names> {
  const ids = { key: distinct(wanted.key), person: distinct(wanted.person), team: distinct(wanted.team) }
  const isNone = NAMED.every((name) => ids[name].length === 0)
  return toNames(isNone || find === undefined ? [] : await find({ ids, reach: reachOf(viewer) }))
}

/** Returns the wanted names of rows. */
export function idsOf(rows: readonly Pick<ListedRequest, 'keyId' | 'userId' | 'teamId'>[]): WantedNames {
  return {
    key: rows.map(({ keyId }) => keyId),
    person: rows.map(({ userId }) => userId),
    team: rows.map(({ teamId }) => teamId),
  }
}

function reachOf({ scopes, userId, teamIds }: Viewer) {
  if (typeof scopes !== 'string' && 'everybody' in scopes) return undefined
  return { accountId: userId ?? '', teamIds }
}

function distinct(ids: WantedNames[Named] = []): readonly string[] {
  return [...new Set(ids.filter((id) => id !== null && id !== undefined))]
}
