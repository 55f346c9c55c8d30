import type Router from '@koa/router'
import type { Intakes } from '../body-intake.ts'
import type { ReadViewer } from '../dashboard/viewer.ts'
import type { RequestState } from '../request-context.ts'
import type { ReadSession } from '../session.ts'
import { CALLBACK_PATH, callbackRoute, startRoute } from './browser-routes.ts'
import { decideDeviceRoute, findDeviceRoute, operatorLinkRoute } from './device-routes.ts'
import { type ManagedSettingsOptions, managedSettingsRoute } from './managed-settings.ts'
import { deviceAuthorizationRoute, metadataRoute, revokeRoute, tokenRoute } from './oauth-routes.ts'
import type { SignInParts } from './options.ts'
import { type OwnUsageOptions, ownUsageRoute } from './own-usage.ts'
import { endPersonSessionsRoute, endSessionRoute, listSessionsRoute, personSessionsRoute } from './session-list.ts'

/** Dependencies of the routes of sign-in and sessions. */
export interface SignInRouteOptions extends SignInParts {
  readonly session: ReadSession
  readonly viewer: ReadViewer
  /** Settings and limits that signed-in clients of models read of themselves. */
  readonly clients: ManagedSettingsOptions & OwnUsageOptions
}

/** Adds the routes of sessions, and of clients that sign in. */
export function addSignIn(router: Router<RequestState>, options: SignInRouteOptions, intakes: Intakes): void {
  const strangers = { ...options, intake: intakes.strangers }
  router.get('/.well-known/oauth-authorization-server', metadataRoute(options))
  router.post('/oauth/device_authorization', deviceAuthorizationRoute(strangers))
  router.post('/oauth/token', tokenRoute(strangers))
  router.post('/oauth/revoke', revokeRoute(strangers))
  router.get('/managed/settings', managedSettingsRoute(options.clients))
  router.get('/api/oauth/usage', ownUsageRoute(options.clients))
  router.get('/v1/sessions', listSessionsRoute(options)).delete('/v1/sessions/:id', endSessionRoute(options))
  router.get('/v1/admin/people/:id/sessions', personSessionsRoute(options))
  router.delete('/v1/admin/people/:id/sessions', endPersonSessionsRoute(options))
}

/** Adds the routes of browsers: sign-in by OpenID Connect, and the pages of the dashboard that belong to it. */
export function addSignInPages(router: Router<RequestState>, options: SignInRouteOptions, intakes: Intakes): void {
  router.get('/sign-in', startRoute(options)).get(CALLBACK_PATH, callbackRoute(options))
  router.post('/sign-in/first-operator', operatorLinkRoute({ ...options, intake: intakes.strangers }))
  const users = { ...options, intake: intakes.callers }
  router.post('/dashboard/api/device/find', findDeviceRoute(users))
  router.post('/dashboard/api/device', decideDeviceRoute(users))
}
