import type { EdgeCase } from './data.ts'
import type { Policy } from './policies.ts'
import { rewriteBody } from './replay.ts'

/** The ids of those cases that lose, after a policy, what they must keep. */
export async function failedEdgeCases(cases: readonly EdgeCase[], policy: Policy): Promise<string[]> {
  const failed: string[] = []
  for (const { id, request, must_keep } of cases) {
    const { request: after } = await rewriteBody(request, await policy.createSteps())
    // As it is in the text, and as JSON has it.
    const text = after.bytes.toString()
    const isKept = (value: string) => text.includes(value) || text.includes(JSON.stringify(value).slice(1, -1))
    if (!must_keep.every(isKept)) failed.push(id)
  }
  return failed
}
