/**
 * DESIGN — credentials in the wrong place
 *
 * People paste a key where a model, a module or a path belongs, and answers of errors, logs, traces and receipts repeat
 * what was sent. So what is repeated passes here: texts of the form of a credential are hidden, and those that came with
 * the request itself, whatever their form. What is kept as it came, a model's name, is refused when it holds one.
 */
const SECRET_FORM = new RegExp(
  [
    '[a-z][a-z0-9]{0,15}_(?:live|test)_[0-9A-Za-z]{8,}', // ours, and Stripe's
    'eyJ[\\w-]{8,}(?:\\.[\\w-]*)*', // JSON Web Tokens
    '(?<![0-9A-Za-z])(?:sk|pk|xai|pplx)-[\\w-]{16,}', // providers' keys
    '(?<![0-9A-Za-z])(?:gsk|hf|r8|whsec)_[\\w-]{16,}',
    'AIza[\\w-]{20,}',
  ].join('|'),
  'g',
)
const HIDDEN = '[hidden]'
/** A credential of local mode may be any word; one that is shorter is nobody's secret. */
const SHORTEST_SECRET = 16

/** Hides credentials: what has their form, and these. */
export function hideSecrets(text: string, known: readonly string[] = []): string {
  let hidden = text
  for (const secret of known) {
    if (secret.length < SHORTEST_SECRET) continue
    // Texts come as JSON too, in which quotes and backslashes are escaped.
    for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) hidden = hidden.replaceAll(form, HIDDEN)
  }
  return hidden.replace(SECRET_FORM, HIDDEN)
}

/** Whether a text holds a credential. */
export function holdsSecret(text: string, known: readonly string[] = []): boolean {
  if (text.length < SHORTEST_SECRET) return false
  return text.search(SECRET_FORM) >= 0 || known.some((one) => one.length >= SHORTEST_SECRET && text.includes(one))
}
