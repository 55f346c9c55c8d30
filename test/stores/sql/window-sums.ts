import type { ExecutionContext } from 'ava'

/** Amounts that belong to a window. */
type Sums = Record<'settledNanoUsd' | 'heldNanoUsd', number>

/**
 * Asserts that the sums of each window are those of the holds whose windows name it: what was spent, what has expired, and
 * what is held. Returns the number of windows.
 */
export async function assertSumsAgree(
  t: ExecutionContext,
  { sql }: { sql(text: string): Promise<Record<string, unknown>[]> },
): Promise<number> {
  // In one statement: a gateway may settle between two.
  const rows =
    await sql(`select scope, window_id as name, settled_nano_usd as one, held_nano_usd as other, null as state
    from spend_window union all
    select windows, id, amount_nano_usd, coalesce(cost_nano_usd, 0), state from spend_hold`)
  const windows = rows.filter(({ state }) => state === null)
  const summed = new Map<string, Sums>(
    windows.map(({ scope, name }) => [`${scope} ${name}`, { settledNanoUsd: 0, heldNanoUsd: 0 }]),
  )
  for (const { scope, one: amount, other: cost, state } of rows.filter((row) => row.state !== null))
    for (const window of JSON.parse(String(scope)) as { scope: string; window: string }[]) {
      const sums = summed.get(`${window.scope} ${window.window}`)
      t.truthy(sums, `a window of ${window.scope}`)
      if (sums === undefined) continue
      if (state === 'open') sums.heldNanoUsd += Number(amount)
      else sums.settledNanoUsd += Number(state === 'expired' ? amount : cost)
    }
  for (const { scope, name, one: settled, other: held } of windows) {
    const stored = { settledNanoUsd: Number(settled), heldNanoUsd: Number(held) }
    t.deepEqual(stored, summed.get(`${scope} ${name}`), `${scope} ${name}`)
  }
  return windows.length
}
