import type { ProviderName } from '../../support/provider-fixture.ts'
import type { Cell } from './cells.ts'
import type { ClientName } from './client.ts'

/** A case that one cell cannot do, whatever the gateway does. */
export interface Impossible {
  /** `any` where the provider is the reason. */
  client: ClientName | 'any'
  provider: ProviderName | 'any'
  case: 'reasoning' | 'document'
  reason: string
}

/** All impossible cases; the tests of each case show what happens instead. */
const impossible: readonly Impossible[] = [
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
  {
    client: 'any',
    provider: 'house',
    case: 'document',
    reason: 'a server like vLLM refuses files',
  },
]

/** Returns why a cell cannot do a case; `undefined` when it can. */
export function impossibilityOf({ client, provider }: Cell, name: Impossible['case']): string | undefined {
  return impossible.find(
    (entry) =>
      entry.case === name &&
      (entry.client === 'any' || entry.client === client.name) &&
      (entry.provider === 'any' || entry.provider === provider),
  )?.reason
}

/** Returns the claim of a case's test where it is possible, and the other, with the reason, where it is not. */
export function claimOf(name: Impossible['case'], claim: string, otherwise: string): (cell: Cell) => string {
  return (cell) => {
    const reason = impossibilityOf(cell, name)
    return reason === undefined ? claim : `${otherwise}: ${reason}`
  }
}
