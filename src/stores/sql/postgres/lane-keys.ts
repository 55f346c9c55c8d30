import { LRUCache } from 'lru-cache'
import { entryLimit } from '../../../core/system/entry-limit.ts'
import type { CommandInput, CommandName } from '../commands.ts'

/** Holds whose lane is known; each other one is a lane of its own. */
const MOST_HOLDS = 20_000

/** Scope of a team's windows: requests of all its keys change the same rows. */
const TEAM = 'team:'

/**
 * Returns the lane of a hold: its team's, else its key's. In lanes of their own, the keys of one team would take a connection
 * each to wait for the team's row, and keep them from other teams.
 */
function laneOf(windows: readonly { scope: string }[]): string | undefined {
  return (windows.find(({ scope }) => scope.startsWith(TEAM)) ?? windows[0])?.scope
}

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
    const scope = laneOf(windows)
    if (scope !== undefined) this.#scopes.set(holdId, scope)
    return scope
  }

  /** Ends of many scopes come together. */
  #end(ends: readonly { holdId: string }[]): string {
    for (const { holdId } of ends) this.#scopes.delete(holdId)
    return 'ends'
  }
}
