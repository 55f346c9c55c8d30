/**
 * Headers about the limits of an account at a provider: Anthropic's (of requests, of tokens, of a subscription, of its tiers),
 * OpenAI's and its like, Codex's, and the IETF's; and those that name the account.
 */
const ACCOUNT_LIMITS =
  /^(?:anthropic-(?:ratelimit|priority|fast)-|(?:x-)?rate-?limit(?:-|$)|x-codex-(?:.*(?:primary|secondary)-|.*limit|credits-|promo-)|(?:anthropic|openai)-(?:organization|project|workspace)(?:-id)?$)/

/** Removes the headers about an account at a provider and its limits. */
export function removeAccountLimits(headers: Record<string, unknown>): void {
  for (const name in headers) if (ACCOUNT_LIMITS.test(name)) delete headers[name]
}
