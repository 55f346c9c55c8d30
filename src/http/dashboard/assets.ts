import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Context, Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'

/**
 * DESIGN — the files of the dashboard
 *
 * A page and a few files whose names contain a hash of their content, so that browsers cache them permanently and
 * revalidate the page alone. They are read, compressed and hashed at the first request, and served from memory. The
 * content security policy allows the page its own scripts and calls of its own gateway, nothing else: a script or URL
 * in a message stays text even if the page has a bug.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const IMMUTABLE = 'public, max-age=31536000, immutable'
const PAGE = '/index.html'

interface Asset {
  readonly type: string
  readonly etag: string
  readonly bytes: Buffer
  readonly packed: Buffer
}

/** Serves the built files of a folder: the page at `/`, the others below `/assets`. */
export function assetsRoute(folder: string): Middleware {
  let assets: ReadonlyMap<string, Asset> = new Map()
  return function dashboardFile(ctx) {
    // Not cached: files that are missing now may be built before the next request.
    if (assets.size === 0) assets = readAssets(folder)
    const isPage = ctx.path === '/'
    const asset = assets.get(isPage ? PAGE : ctx.path)
    if (asset === undefined) throw missing(ctx, { isBuilt: assets.size > 0 })
    ctx.set({ ...HEADERS, 'cache-control': isPage ? 'no-cache' : IMMUTABLE, vary: 'accept-encoding', etag: asset.etag })
    ctx.status = 200
    if (ctx.fresh) {
      ctx.status = 304
      return
    }
    ctx.type = asset.type
    const isPacked = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
    if (isPacked) ctx.set('content-encoding', 'gzip')
    ctx.body = isPacked ? asset.packed : asset.bytes
  }
}

function missing(ctx: Context, { isBuilt }: { isBuilt: boolean }): GatewayError {
  const why = isBuilt ? '' : ' The dashboard is not built: run `npm run build:dashboard`.'
  return new GatewayError('not_found', `There is nothing at ${ctx.method} ${ctx.path}.${why}`)
}

function readAssets(folder: string): Map<string, Asset> {
  if (!existsSync(folder)) return new Map()
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    files.map(({ parentPath, name }) => {
      const file = path.join(parentPath, name)
      return [`/${path.relative(folder, file).replaceAll(path.sep, '/')}`, toAsset(file)]
    }),
  )
}

function toAsset(file: string): Asset {
  const bytes = readFileSync(file)
  const etag = `"${hash('sha256', bytes, 'base64url').slice(0, 22)}"`
  return { type: TYPES[path.extname(file)] ?? 'application/octet-stream', etag, bytes, packed: gzipSync(bytes) }
}
