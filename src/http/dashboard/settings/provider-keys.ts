import type { IncomingMessage } from 'node:http'
import type { Middleware } from 'koa'
import { z } from 'zod'
import { parseFields } from '../../../core/request/parse-fields.ts'
import { parseBody } from '../../../dialects/scan-body.ts'
import { readControlBytes } from '../../control-body.ts'
import type { RequestState } from '../../request-context.ts'
import { assertOperator } from '../viewer.ts'
import type { WantedKey } from './control.ts'
import { authorOf } from './editor.ts'
import type { SettingsRouteOptions } from './settings.ts'

const LARGEST_BODY_BYTES = 8 * 1024
const LONGEST_KEY = 1000
const LONGEST_URL = 500
const PREFIX = '/dashboard/api/providers/'

const credential = z.strictObject({
  apiKey: z
    .string()
    .trim()
    .min(8, { error: 'expected at least 8 characters' })
    .max(LONGEST_KEY, { error: `expected at most ${LONGEST_KEY} characters` })
    .regex(/^[!-~]+$/, { error: 'expected printable characters without spaces' }),
  baseUrl: z.string().trim().max(LONGEST_URL).optional(),
})

/** `GET /dashboard/api/providers`: lists providers that take a key, and the source of the one in force; never a key. */
export function providersRoute({ viewer, settings }: SettingsRouteOptions): Middleware<RequestState> {
  return async function listProviders(ctx) {
    assertOperator(await viewer(ctx), 'Providers')
    ctx.body = { data: settings.providers() }
  }
}

/** `POST /dashboard/api/providers/:name/test` with `{ "apiKey": "…" }`: calls the provider's list of models. */
export function testKeyRoute(options: SettingsRouteOptions): Middleware<RequestState> {
  return async function testKey(ctx) {
    const { actor } = await authorOf(ctx, options.viewer)
    ctx.body = await options.settings.testKey(await readKey(ctx.req, ctx.path, { ...options, actor }))
  }
}

/** `PUT /dashboard/api/providers/:name/key` with the same body: tests the key, and stores it encrypted. */
export function storeKeyRoute(options: SettingsRouteOptions): Middleware<RequestState> {
  return async function storeKey(ctx) {
    const { viewer, settings } = options
    const { actor } = await authorOf(ctx, viewer)
    const key = await readKey(ctx.req, ctx.path, { ...options, actor })
    await settings.testKey(key)
    // Read again: the provider may have taken its time.
    await settings.storeKey(key, await authorOf(ctx, viewer))
    ctx.body = { data: settings.providers() }
  }
}

/** `DELETE /dashboard/api/providers/:name/key`: deletes the stored key. */
export function removeKeyRoute({ viewer, settings }: SettingsRouteOptions): Middleware<RequestState> {
  return async function removeKey(ctx) {
    const author = await authorOf(ctx, viewer)
    await settings.removeKey(providerIn(ctx.path), author)
    ctx.body = { data: settings.providers() }
  }
}

/** Reads a body that holds a credential, which control bodies refuse. */
async function readKey(
  request: IncomingMessage,
  path: string,
  { intake, actor }: Pick<SettingsRouteOptions, 'intake'> & { readonly actor: string },
): Promise<WantedKey> {
  const bytes = await readControlBytes(request, { intake, sender: actor, limitBytes: LARGEST_BODY_BYTES })
  return { provider: providerIn(path), ...parseFields(credential, parseBody(bytes)) }
}

function providerIn(path: string): string {
  return path.slice(PREFIX.length, path.lastIndexOf('/'))
}
