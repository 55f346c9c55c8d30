/**
 * DESIGN: server of a tool, parsed from its name.
 *
 *     mcp__github__create_issue   github__create_issue   github.create_issue   github/create_issue   github:create_issue
 *     github-create_issue         when at least three tools of the list begin with `github-`, which is not a verb
 *
 * A tool without a prefix, among others that have one, is the agent's own. Where no tool has one, none is known to be.
 */

/** Parsed name of a tool. */
export interface ToolName {
  readonly full: string
  /** Server's name as in the tool's; `undefined` without a prefix. */
  readonly namespace: string | undefined
  /** Part behind the prefix. */
  readonly bare: string
}

const EXPLICIT = /^(?:mcp__)?(.+?)(?:__|[./:])(.+)$/
const DASHED = /^([A-Za-z][A-Za-z\d]*)-(.+)$/
const LEAST_SIBLINGS = 3
const VERBS = new Set(
  (
    'add browse build calculate call cancel change check close compare compute connect convert copy count create delete ' +
    'describe disable download edit enable execute export fetch fill find generate get import insert launch list load ' +
    'lookup make merge modify move navigate open parse post publish query read remove rename render reply reset resolve ' +
    'retrieve run save search select send set show start stop submit summarize sync take test transform translate ' +
    'update upload validate view wait write'
  ).split(' '),
)

/** Parses the names of a list of tools, in its order. */
export function parseNames(names: readonly string[]): ToolName[] {
  const explicit = names.map((full) => toName(full, EXPLICIT))
  const siblings = countDashed(explicit)
  const isSiblings = ({ namespace }: ToolName) =>
    namespace !== undefined && (siblings.get(namespace) ?? 0) >= LEAST_SIBLINGS && !VERBS.has(namespace.toLowerCase())
  return explicit.map((name) => {
    if (name.namespace !== undefined) return name
    const dashed = toName(name.full, DASHED)
    return isSiblings(dashed) ? dashed : name
  })
}

/**
 * Tests that prefixes distinguish the agent's own tools from those of servers: some name has MCP clients' `__`, or at
 * least every other name has a prefix.
 */
export function hasServers(names: readonly ToolName[]): boolean {
  const prefixed = names.filter(({ namespace }) => namespace !== undefined)
  return (
    prefixed.some(({ full }) => full.includes('__')) || (prefixed.length > 0 && prefixed.length * 2 >= names.length)
  )
}

function toName(full: string, pattern: RegExp): ToolName {
  const [, namespace, bare = full] = pattern.exec(full) ?? []
  return { full, namespace, bare }
}

function countDashed(names: readonly ToolName[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { full, namespace: explicit } of names) {
    const { namespace } = toName(full, DASHED)
    if (explicit === undefined && namespace !== undefined) counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
  }
  return counts
}
