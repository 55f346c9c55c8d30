import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Returns the number of a scope's windows of spend and their sums, read beside the gateway. */
export function sumsOfWindows(dataDir: string, scope: string) {
  const db = new DatabaseSync(path.join(dataDir, 'turnpike.db'), { readOnly: true, timeout: 20_000 })
  try {
    const sums = db
      .prepare(
        `select count(*) as windows, coalesce(sum(settled_nano_usd), 0) as settledNanoUsd,
          coalesce(sum(held_nano_usd), 0) as heldNanoUsd from spend_window where scope = ?`,
      )
      .get(scope)
    return { ...sums } as { windows: number; settledNanoUsd: number; heldNanoUsd: number } // safe: as selected
  } finally {
    db.close()
  }
}
