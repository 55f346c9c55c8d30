/**
 * DESIGN — credentials in the wrong place
 *
 * Users paste a key where a model, a plugin or a path belongs, and error replies, logs, traces and receipts repeat parts of
 * requests. Repeated text passes here: texts in the form of a credential are hidden, and the credentials of
 * the request itself, whatever their form. A name that is kept unchanged, such as a model's, is refused if it holds one.
 */
const SECRET_FORM = new RegExp(
  [
    '[a-z][a-z0-9]{0,15}_(?:live|test)_[0-9A-Za-z]{8,}', // ours, and Stripe's
    'eyJ[\\w-]{8,}(?:\\.[\\w-]*)*', // JSON Web Tokens
    '(?<![0-9A-Za-z])(?:sk|pk|xai|pplx)-[\\w-]{16,}', // providers' keys
    '(?<![0-9A-Za-z])(?:gsk|hf|r8|whsec|sess)_[\\w-]{16,}', // providers' keys, and sessions of ours
    'AIza[\\w-]{20,}',
  ].join('|'),
  'g',
)
const HIDDEN = '[hidden]'
/** In local mode any word may be a credential; a shorter one is not a secret. */
const SHORTEST_SECRET = 16

/** Replaces credentials in a text: all in their form, and the `known` ones. */
export function hideSecrets(text: string, known: readonly string[] = []): string {
  let hidden = text
  for (const secret of known) {
    if (secret.length < SHORTEST_SECRET) continue
    // Texts may be JSON, in which quotes and backslashes are escaped.
    for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) hidden = hidden.replaceAll(form, HIDDEN)
  }
  return hidden.replace(SECRET_FORM, HIDDEN)
}

/** Returns whether a text holds a credential. */
export function holdsSecret(text: string, known: readonly string[] = []): boolean {
  if (text.length < SHORTEST_SECRET) return false
  return text.search(SECRET_FORM) >= 0 || known.some((one) => one.length >= SHORTEST_SECRET && text.includes(one))
}
