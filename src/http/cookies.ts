import type { Context } from 'koa'
import { isUnderLoopbackName } from './dashboard/own-page.ts'

/** Prefix with which browsers accept a cookie from this very host over https alone, not from a sibling domain. */
const OF_HOST = '__Host-'

/** Value and bounds of a cookie. */
export interface CookieValue {
  /** `undefined` deletes it. */
  readonly value: string | undefined
  /** End in milliseconds since 1970. */
  readonly expiresAtMs: number
  readonly sameSite: 'Strict' | 'Lax'
  readonly isSecure: boolean
}

/** Sets a cookie that no script can read; a secure one is bound to this host by its name. */
export function setCookie(ctx: Context, name: string, { value, expiresAtMs, sameSite, isSecure }: CookieValue): void {
  const parts = [
    `${isSecure ? OF_HOST : ''}${name}=${value ?? ''}`,
    'Path=/',
    'HttpOnly',
    `SameSite=${sameSite}`,
    `Expires=${new Date(value === undefined ? 0 : expiresAtMs).toUTCString()}`,
    ...(isSecure ? ['Secure'] : []),
  ]
  ctx.append('set-cookie', parts.join('; '))
}

/** Returns a cookie: under a public name only one that is bound to this host, since a sibling domain can set others. */
export function cookieOf(ctx: Context, name: string): string | undefined {
  return ctx.cookies.get(OF_HOST + name) ?? (isUnderLoopbackName(ctx) ? ctx.cookies.get(name) : undefined)
}
