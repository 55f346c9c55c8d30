import { listenAddress, urlHere } from '../core/system/listen-address.ts'

/** Facts of the start-up banner. */
export interface BannerFacts {
  readonly host: string
  readonly port: number
  readonly mode: string
  readonly pipeline: string
  readonly hasDashboard: boolean
  /** Other machines can reach the gateway without a key. */
  readonly isOpen: boolean
  readonly providers: readonly { name: string; configured: boolean }[]
}

/** Prints the start-up banner: address, providers, pipeline, and a command to paste. */
export function banner({ host, port, mode, pipeline, hasDashboard, isOpen, providers }: BannerFacts): string {
  const url = urlHere(host, port)
  const isDemo = providers.some(({ name }) => name === 'demo') && !providers.some(({ configured }) => configured)
  const body = {
    model: isDemo ? 'demo/echo' : 'claude-sonnet-4-5',
    max_tokens: 200,
    messages: [{ role: 'user', content: 'Hello' }],
  }
  const json = "-H 'content-type: application/json'"
  const isLocal = mode === 'local'
  const key = isLocal ? 'any' : 'svc_live_…'
  const warning = `
  WARNING    listens on ${listenAddress(host, port)}: every machine that reaches it uses your provider keys, without a key.
`
  const howToGetKey = `
  a key      curl ${url}/v1/keys -H 'authorization: Bearer <session token>' ${json} -d '{}'`
  const page = hasDashboard ? `, or enter a key on ${url}/#/start,` : ''
  const noKey = `\n  No provider has a credential: the demo models answer. Set ANTHROPIC_API_KEY${page} to call real ones.\n`
  return `
  turnpike  ${url}  (${mode} mode)
${isOpen ? warning : ''}
  providers  ${providers.map(describe).join(', ')}
  pipeline   ${pipeline}
${hasDashboard ? `  dashboard  ${url}/\n` : ''}${isLocal ? '' : howToGetKey}
  try it     curl ${url}/v1/messages -H 'authorization: Bearer ${key}' ${json} \\
               -d '${JSON.stringify(body)}'
  an agent   ANTHROPIC_BASE_URL=${url} ANTHROPIC_API_KEY=${key} claude
${isDemo ? noKey : ''}
`
}

/** Prints the one-time link that makes the first operator. */
export function operatorNote(url: string): string {
  return `  operator   No account is an operator yet. Open this link within an hour, once, and sign in:
             ${url}\n\n`
}

function describe({ name, configured }: { name: string; configured: boolean }): string {
  if (name === 'demo') return 'demo (models demo/echo, demo/lorem, demo/tool)'
  return configured ? name : `${name} (no credential)`
}
