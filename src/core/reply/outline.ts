/** How a reply stopped, and the tools that it calls. */
export interface ReplyOutline {
  /** Stop reason in the words of the Messages API: `end_turn`, `max_tokens`, `tool_use`, … */
  readonly stopReason: string | undefined
  /** Names of called tools, in their order. */
  readonly tools: readonly string[]
}

const MOST_TOOLS = 32
const LONGEST_NAME = 64

/** Collects the outline of a stream from its events. Bounded: the names are the model's own text. */
export class OutlineCollector implements ReplyOutline {
  stopReason: string | undefined
  readonly tools: string[] = []

  add({ stopReason, tools = [] }: Partial<ReplyOutline>): void {
    this.stopReason = stopReason?.slice(0, LONGEST_NAME) ?? this.stopReason
    for (const name of tools) if (this.tools.length < MOST_TOOLS) this.tools.push(name.slice(0, LONGEST_NAME))
  }
}

/** Returns an outline with bounded names. */
export function boundedOutline(outline: Partial<ReplyOutline>): ReplyOutline {
  const collector = new OutlineCollector()
  collector.add(outline)
  return collector
}
