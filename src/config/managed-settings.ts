import { z } from 'zod'

/** Keys that Claude Code reads from the machine's own managed settings alone. */
const LOCAL_KEYS = ['forceLoginGatewayUrl', 'gatewayInternalNetworks', 'mcpServers', 'policyHelper']

const texts = z.array(z.string()).optional()

/** A document of Claude Code's managed settings; other keys than these have the client's own validation. */
const settings = z
  .looseObject({
    availableModels: texts,
    env: z.record(z.string(), z.string()).optional(),
    permissions: z.looseObject({ allow: texts, ask: texts, deny: texts }).optional(),
  })
  .superRefine((document, ctx) => {
    for (const key of LOCAL_KEYS)
      if (Object.hasOwn(document, key))
        ctx.addIssue({
          code: 'custom',
          path: [key],
          message:
            'Claude Code does not read it from a gateway: it belongs in the managed settings file of each machine',
        })
  })

const rule = z.strictObject({
  teams: z.array(z.string().trim().min(1)).min(1).optional(),
  settings,
})

/** Settings that signed-in clients fetch, by team. */
export const managedSettings = z
  .array(rule)
  .default([])
  .refine((rules) => rules.slice(0, -1).every(({ teams }) => teams !== undefined), {
    error: 'an entry without `teams` applies to everyone, so it has to be the last',
  })
