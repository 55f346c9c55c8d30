import { duration, z } from 'turnpike/plugin'

/** Options of the operator's own detector. */
export const detectorOptions = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'Address of a detector of your own, such as `http://127.0.0.1:5001/find`: it receives `{"texts": [...]}`, the texts with their originals, and returns `{"values": [...]}`, those to redact. Unset: there is none.',
    ),
  api_key: z
    .string()
    .min(1)
    .optional()
    .meta({ secret: true })
    .describe('Key for the detector, sent as `authorization: Bearer`. Unset: no header is sent.'),
  budget: duration({ min: '10ms', max: '4s' })
    .prefault('500ms')
    .describe('How long a request waits for the detector, from 10 ms to 4 s.'),
  on_failure: z
    .enum(['refuse', 'continue'])
    .default('refuse')
    .describe(
      'What happens to a request whose detector is late, fails, or has too much to do. `refuse`: 503. `continue`: only what the built-in detectors have found is redacted, which the header reports as `detector=failed`.',
    ),
})

/** Parsed options. */
export type DetectorOptions = z.output<typeof detectorOptions>
