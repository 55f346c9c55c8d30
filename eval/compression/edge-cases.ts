import type { EdgeCase } from './data.ts'
import type { Policy } from './policies.ts'
import { rewriteBody } from './replay.ts'

/** Returns the ids of cases that lose required text after a policy. */
export async function failedEdgeCases(cases: readonly EdgeCase[], policy: Policy): Promise<string[]> {
  const failed: string[] = []
  for (const { id, request, must_keep } of cases) {
    const { request: after } = await rewriteBody(request, await policy.createSteps())
    // Plain, and escaped as in JSON.
    const text = after.bytes.toString()
    const isKept = (value: string) => text.includes(value) || text.includes(JSON.stringify(value).slice(1, -1))
    if (!must_keep.every(isKept)) failed.push(id)
  }
  return failed
}
