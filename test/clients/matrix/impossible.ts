import type { ProviderName } from '../../support/provider-stage.ts'
import type { ClientName } from './client.ts'

/** What one cell cannot do, whatever the gateway does. */
export interface Impossible {
  /** `any` where the provider is the reason. */
  client: ClientName | 'any'
  provider: ProviderName | 'any'
  case: 'reasoning'
  reason: string
}

/** All that is impossible; what happens instead stands in the tests of the case. */
export const impossible: readonly Impossible[] = [
  {
    client: 'any',
    provider: 'openai',
    case: 'reasoning',
    reason: 'chat completions of OpenAI keep the text to themselves',
  },
  {
    client: 'ai-sdk-openai',
    provider: 'any',
    case: 'reasoning',
    reason: 'the SDK reads no reasoning_content',
  },
]

/** Why a cell cannot do what a case asks; `undefined` when it can. */
export function impossibilityOf(
  client: ClientName,
  provider: ProviderName,
  name: Impossible['case'],
): string | undefined {
  return impossible.find(
    (entry) =>
      entry.case === name &&
      (entry.client === 'any' || entry.client === client) &&
      (entry.provider === 'any' || entry.provider === provider),
  )?.reason
}
