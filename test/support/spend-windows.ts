import { eventually } from './eventually.ts'
import { queryGateway } from './gateway-database.ts'

/** Returns the number of a scope's windows of spend and their sums, read beside the gateway. */
export async function sumsOfWindows(dataDir: string, scope: string) {
  const [sums] = await queryGateway(
    dataDir,
    `select count(*) as windows, coalesce(sum(settled_nano_usd), 0) as "settledNanoUsd",
      coalesce(sum(held_nano_usd), 0) as "heldNanoUsd" from spend_window where scope = '${scope}'`,
  )
  return sums as { windows: number; settledNanoUsd: number; heldNanoUsd: number } // safe: as selected
}

/** Waits until money is held in all of the scopes, or in none. */
export async function untilHeld(
  dataDir: string,
  scopes: readonly string[],
  where: 'everywhere' | 'nowhere',
): Promise<void> {
  const isReached = async () => {
    const sums = await Promise.all(scopes.map((scope) => sumsOfWindows(dataDir, scope)))
    return sums.every(({ heldNanoUsd }) => heldNanoUsd > 0 === (where === 'everywhere'))
  }
  await eventually(isReached, `money held ${where} of ${scopes}`)
}
