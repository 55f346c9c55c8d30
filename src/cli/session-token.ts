import type { Command } from 'commander'
import { ConfigError } from '../config/config-error.ts'
import { loadConfig } from '../config/load.ts'
import { GatewayError } from '../core/errors.ts'
import { duration } from '../core/units.ts'

const ttlOf = duration({ min: '1s', max: '30d' })

/** `turnpike session-token`: a token of a user, for development. */
export function addSessionTokenCommand(program: Command): void {
  program
    .command('session-token')
    .description('Sign a session token with the shared secret of the configuration, for development.')
    .requiredOption('--user <id>', 'whose session it is')
    .option('--ttl <duration>', 'how long it is good for, from 1s to 30d', '1h')
    .addHelpText(
      'after',
      '\nExample:\n  $ curl -H "authorization: Bearer $(turnpike session-token --user ada)" http://127.0.0.1:3099/v1/keys',
    )
    .action(async ({ user, ttl }: { user: string; ttl: string }) => {
      const {
        secret,
        user_claim: userClaim,
        issuer,
        audience,
        azp,
        required_claims,
      } = loadConfig(process.env).config.sessions
      if (secret === undefined)
        throw new ConfigError(
          '`sessions.secret`: expected the secret to sign with; set SVC_SESSION_SECRET. With a key set, only its issuer can sign.',
        )
      const parsed = ttlOf.safeParse(ttl)
      if (!parsed.success) throw new GatewayError('invalid_request', `--ttl: ${parsed.error.issues[0]?.message}.`)
      // Only here: it takes a library that no other command needs.
      const { mintSessionToken } = await import('../accounts/sessions/mint.ts')
      const options = { secret, userId: user, userClaim, issuer, audience, azp, extraClaims: required_claims }
      const token = await mintSessionToken({ ...options, nowMs: Date.now(), ttlMs: parsed.data })
      process.stdout.write(`${token}\n`)
    })
}
