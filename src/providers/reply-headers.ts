import type { IncomingHttpHeaders } from 'node:http'
import type { ReplyHeaders } from '../core/reply/reply.ts'

/**
 * DESIGN — which headers of a provider's reply reach the client
 *
 * All headers that describe the reply, known or not: rate limits, ids and new `anthropic-*` headers come with every
 * release, and clients read them. Not those that act on anything else. A provider is trusted with the answer; it is
 * not trusted with the operator's site, the proxies in front of it, or its clients' browsers. Names are refused by family,
 * so that a new member of a family is refused as well.
 */
const REFUSED_FAMILIES: readonly { readonly why: string; readonly names: RegExp }[] = [
  {
    why: 'belong to the connection between gateway and provider (RFC 9110 §7.6.1)',
    names: /^(?:connection|keep-alive|trailer|transfer-encoding|upgrade|te|via|proxy-.*)$/,
  },
  { why: 'describe bytes that are decoded and counted again here', names: /^content-(?:length|encoding)$/ },
  {
    why: 'set state in clients: cookies, credentials, login',
    names:
      /^(?:set-cookie2?|set-login|www-authenticate|authentication-(?:info|control)|activate-storage-access|sec-.*|use-as-dictionary)$/,
  },
  {
    why: 'are policies of a site for browsers',
    names:
      /^(?:alt-svc|strict-transport-security|public-key-pins.*|expect-ct|clear-site-data|content-security-policy.*|x-frame-options|x-xss-protection|x-permitted-cross-domain-policies|referrer-policy|.*permissions-policy|feature-policy|document-policy.*|require-document-policy|cross-origin-.*|origin-.*|access-control-.*|timing-allow-origin|service-worker-.*|report-to|reporting-endpoints|nel|accept-ch|critical-ch|x-dns-prefetch-control|no-vary-search|integrity-policy.*|attribution-reporting-.*|observe-browsing-topics|x-content-security-policy.*|x-webkit-csp.*)$/,
  },
  {
    why: 'redirect clients to other addresses or have them load something',
    names: /^(?:location|content-location|refresh|link|sourcemap|x-sourcemap|speculation-rules|supports-loading-mode)$/,
  },
  {
    why: 'instruct a proxy or cache in front of the gateway: files to send, requests to repeat, replies to keep, hosts to avoid',
    names:
      /^(?:x-accel-.*|x-sendfile.*|x-lighttpd-.*|x-litespeed-.*|x-reproxy-.*|x-proxy-.*|x-nginx-.*|x-envoy-(?!upstream-service-time$).*|x-varnish-.*|x-middleware-.*|x-internal-.*|x-original-.*|x-rewrite-.*|x-forwarded-.*|surrogate-.*|.*cdn-cache-control|edge-.*|cache-tag|xkey)$/,
  },
  { why: 'are the gateway’s own account of its work', names: /^(?:x-svc-.*|payment-receipt)$/ },
]
const REFUSED = new RegExp(REFUSED_FAMILIES.map(({ names }) => names.source).join('|'))

/** Names seen before, with the decision: providers send the same few dozen in every reply. */
const decided = new Map<string, boolean>()
const MOST_DECIDED = 1000

/** Returns the headers of a provider's reply that reach the client. */
export function relayedHeaders(headers: IncomingHttpHeaders): ReplyHeaders {
  const kept: ReplyHeaders = {}
  // Names listed in `connection` are for one hop only (RFC 9110 §7.6.1); nearly all servers list none.
  const { connection } = headers
  const hop = connection === 'keep-alive' ? undefined : connection?.toLowerCase().split(/\s*,\s*/)
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && isRelayed(name) && !hop?.includes(name)) kept[name] = value
  }
  return kept
}

function isRelayed(name: string): boolean {
  const known = decided.get(name)
  if (known !== undefined) return known
  const isAllowed = !REFUSED.test(name)
  if (decided.size < MOST_DECIDED) decided.set(name, isAllowed)
  return isAllowed
}
