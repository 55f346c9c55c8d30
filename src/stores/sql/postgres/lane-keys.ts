import { LRUCache } from 'lru-cache'
import { entryLimit } from '../../../core/system/entry-limit.ts'
import type { CommandInput, CommandName } from '../commands.ts'

/** Holds whose lane is known; each other one is a lane of its own. */
const MOST_HOLDS = 20_000

/** Names the rows that a command changes: commands under the same name would wait for each other in the database. */
export class LaneKeys {
  readonly #scopes = new LRUCache<string, string>(entryLimit(MOST_HOLDS))
  readonly #keys: { [Name in CommandName]?: (input: CommandInput<Name>) => string | undefined } = {
    'spend.reserve': (hold) => this.#begin(hold),
    'spend.admit': ({ hold }) => this.#begin(hold),
    'spend.grow': ({ holdId }) => this.#scopes.get(holdId),
    'spend.settle': (ends) => this.#end(ends),
    'spend.read': ([window]) => window?.scope,
    'ledger.take': ({ accountId }) => `calls ${accountId}`,
  }

  /** Returns the lane of a command; `undefined`: it waits for no other. */
  of<Name extends CommandName>(name: Name, input: CommandInput<Name>): string | undefined {
    return this.#keys[name]?.(input)
  }

  #begin({ holdId, windows }: { holdId: string; windows: readonly { scope: string }[] }): string | undefined {
    const scope = windows[0]?.scope
    if (scope !== undefined) this.#scopes.set(holdId, scope)
    return scope
  }

  /** Ends of many scopes come together. */
  #end(ends: readonly { holdId: string }[]): string {
    for (const { holdId } of ends) this.#scopes.delete(holdId)
    return 'ends'
  }
}
