/** Parts of Codex's configuration that choose the gateway. */
export interface CodexSettings {
  /** The gateway's address, without a trailing slash. */
  readonly url: string
  readonly model: string
  /** Environment variable that has the key. */
  readonly keyVariable: string
  /** Pipeline string of every request; unset: the key's or the operator's. */
  readonly pipe?: string | undefined
  /** True where Codex has the gateway compact its conversations: it does so for a provider of this name alone. */
  readonly compactsRemotely: boolean
}

/** Prints the lines of Codex's configuration (`config.toml`, or a profile's file), as Codex 0.169.0 reads them. */
export function codexConfig({ url, model, keyVariable, pipe, compactsRemotely }: CodexSettings): string {
  const section: Readonly<Record<string, string | boolean | undefined>> = {
    name: compactsRemotely ? 'OpenAI' : 'Turnpike',
    base_url: `${url}/v1`,
    env_key: keyVariable,
    env_key_instructions: `Set ${keyVariable} to a key of the gateway; in local mode to any text.`,
    wire_api: 'responses',
    requires_openai_auth: false,
    model_catalog_url: `${url}/v1/models`,
  }
  const lines = [
    line('model', model),
    line('model_provider', 'turnpike'),
    '',
    '[model_providers.turnpike]',
    ...Object.entries(section).map(([name, value]) => line(name, value)),
    ...(pipe === undefined ? [] : [`http_headers = { "x-svc-pipe" = ${JSON.stringify(pipe)} }`]),
  ]
  return `${lines.join('\n')}\n`
}

/** TOML's basic strings and booleans are written as in JSON. */
function line(name: string, value: unknown): string {
  return `${name} = ${JSON.stringify(value)}`
}
