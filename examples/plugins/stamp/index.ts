import { definePlugin, z } from 'turnpike/plugin'

export default definePlugin({
  name: 'stamp',
  summary: 'Puts a label and the time into a reply header.',
  options: z.strictObject({
    label: z
      .string()
      .regex(/^[!-~]{1,100}$/, 'expected 1 to 100 visible ASCII characters')
      .default('turnpike')
      .describe('Label before the time, 1 to 100 visible ASCII characters.'),
  }),
  perRequest: ['label'],
  needs: ['clock'],
  onError: 'bypass',
  setup(_options, { clock }) {
    return {
      middleware: ({ label }) =>
        async function stamp(ctx, next) {
          await next()
          // The reply is available, but none of it has been sent: headers can still be set.
          ctx.set('x-stamp', `${label} ${new Date(clock.nowMs()).toISOString()}`)
        },
    }
  },
})
