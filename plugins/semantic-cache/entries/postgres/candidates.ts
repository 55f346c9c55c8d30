import type { Clock } from 'turnpike/plugin'
import { labelOf } from '../../entry.ts'
import type { ScopeGraph, ScopeGraphs } from '../../graph/graphs.ts'
import { unpackFact } from '../fact.ts'
import type { Connections } from './connection.ts'
import { FACTS } from './tables.ts'

/** As many are proposed; exact, so no more are needed than are compared. */
const PROPOSED = 20
/** A scope that is too large to be looked through in time must not take the connections of all others. */
const MOST_SEARCHING = 2
const REST_AFTER_FAILURE_MS = 5000

/** Exact, inside one scope: the rows of the scope by the primary key, sorted by distance. No index of vectors is asked. */
const NEAREST = `select value from ${FACTS} where scope = $1 and vector is not null and expires > $3
  order by vector <=> $2::halfvec limit ${PROPOSED}`

/** Proposes entries of scopes that are too large to be looked through in memory, while no graph can. */
export class Candidates {
  readonly #connections: Connections
  readonly #clock: Clock
  #searching = 0
  #restUntilMs = 0

  constructor(connections: Connections, clock: Clock) {
    this.#connections = connections
    this.#clock = clock
  }

  /** Whether a search would be made now. */
  get isReady(): boolean {
    return this.#searching < MOST_SEARCHING && this.#clock.nowMs() >= this.#restUntilMs
  }

  /** Labels of the entries whose vectors are nearest, nearest first. After a failure it rests for a while. */
  async search(scope: string, vector: Int8Array): Promise<readonly number[]> {
    const nowMs = this.#clock.nowMs()
    this.#searching++
    try {
      const rows = await this.#connections.ask(NEAREST, [scope, `[${vector.join(',')}]`, nowMs])
      return rows.flatMap(({ value }) => {
        const fact = Buffer.isBuffer(value) ? unpackFact(value) : undefined
        return fact?.kind === 'entry' ? [labelOf(fact.entry)] : []
      })
    } catch (error) {
      this.#restUntilMs = nowMs + REST_AFTER_FAILURE_MS
      throw error
    } finally {
      this.#searching--
    }
  }
}

/** Graphs, and candidates of PostgreSQL where a graph is being built or cannot be. */
export function withCandidates(graphs: ScopeGraphs, candidates: Candidates): ScopeGraphs {
  return {
    open(scope, owner): ScopeGraph {
      const graph = graphs.open(scope, owner)
      return {
        get isReady() {
          return graph.isReady || candidates.isReady
        },
        add: graph.add,
        remove: graph.remove,
        search: (vector) => (graph.isReady ? graph.search(vector) : candidates.search(scope, vector)),
        drop: graph.drop,
      }
    },
    close: () => graphs.close(),
  }
}
