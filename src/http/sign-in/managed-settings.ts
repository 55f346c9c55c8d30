import { hash } from 'node:crypto'
import type { Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import { canonicalJson } from '../../core/json/canonical-json.ts'
import type { Membership } from '../../core/ports/people.ts'
import type { Caller } from '../../core/request/caller.ts'
import type { RequestState } from '../request-context.ts'
import { type OwnCallerOptions, ownCaller } from './own-caller.ts'

/** Managed settings as configured, and the teams that get them; unset: everyone. */
interface ConfiguredSettings {
  readonly teams?: readonly string[] | undefined
  readonly settings: Readonly<Record<string, unknown>>
}

/** Managed settings as they are sent; names and ids of teams are in lower case. */
export interface ServedSettings {
  readonly teams: readonly string[] | undefined
  readonly body: { readonly uuid: string; readonly checksum: string; readonly settings: ConfiguredSettings['settings'] }
}

/** Returns settings in the form of Claude Code's gateway protocol, whose checksum the client computes too: the SHA-256 of the canonical JSON. */
export function toServedSettings(configured: readonly ConfiguredSettings[]): ServedSettings[] {
  return configured.map(({ teams, settings }) => {
    const checksum = `sha256:${hash('sha256', canonicalJson(settings))}`
    return { teams: teams?.map((team) => team.toLowerCase()), body: { uuid: checksum, checksum, settings } }
  })
}

/** Dependencies of the route of managed settings. */
export interface ManagedSettingsOptions extends OwnCallerOptions {
  /** The first that matches applies. */
  readonly managedSettings: readonly ServedSettings[]
  /** Lists a user's memberships. */
  readonly teamsOf: (userId: string) => Promise<readonly Membership[]>
}

/** `GET /managed/settings`: returns the managed settings of the caller's teams. */
export function managedSettingsRoute(options: ManagedSettingsOptions): Middleware<RequestState> {
  return async function showManagedSettings(ctx) {
    const caller = await ownCaller(ctx, options)
    ctx.set('cache-control', 'no-store')
    const served = await settingsFor(options, caller)
    if (served === undefined) throw new GatewayError('not_found', 'There are no managed settings for this caller.')
    const { body } = served
    ctx.set('etag', `"${body.checksum}"`)
    if (isNamed(ctx.get('if-none-match'), body.checksum)) ctx.status = 304
    else ctx.body = body
  }
}

async function settingsFor(
  { managedSettings, teamsOf }: ManagedSettingsOptions,
  { userId }: Caller,
): Promise<ServedSettings | undefined> {
  const needsTeams = managedSettings.some(({ teams }) => teams !== undefined)
  const memberships = needsTeams && userId !== undefined ? await teamsOf(userId) : []
  const own = new Set(memberships.flatMap(({ teamId, teamName }) => [teamId.toLowerCase(), teamName.toLowerCase()]))
  return managedSettings.find(({ teams }) => teams === undefined || teams.some((team) => own.has(team)))
}

/** Returns whether `If-None-Match` names this entity. `*` does not count: a client asks with it whether there are settings. */
function isNamed(header: string, checksum: string): boolean {
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === `"${checksum}"`)
}
