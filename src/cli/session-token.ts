import type { Command } from 'commander'
import { ConfigError } from '../config/config-error.ts'
import { loadConfig } from '../config/load.ts'
import { GatewayError } from '../core/errors.ts'
import { duration } from '../core/units.ts'
import { addHelp } from './help.ts'

const ttlOf = duration({ min: '1s', max: '30d' })

/** Adds `turnpike session-token`: signs a user's token, for development. */
export function addSessionTokenCommand(program: Command): void {
  const command = program
    .command('session-token')
    .description('Sign a session token with the shared secret of the configuration, for development.')
    .requiredOption('--user <id>', 'user of the session')
    .option('--ttl <duration>', 'lifetime, from 1s to 30d', '1h')
    .option('--json', 'print JSON')
    .action(async ({ user, ttl, json }: { user: string; ttl: string; json?: boolean }) => {
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
      // Imported here: no other command needs this library.
      const { mintSessionToken } = await import('../accounts/sessions/mint.ts')
      const options = { secret, userId: user, userClaim, issuer, audience, azp, extraClaims: required_claims }
      const nowMs = Date.now()
      const token = await mintSessionToken({ ...options, nowMs, ttlMs: parsed.data })
      const expiresAt = new Date(nowMs + parsed.data).toISOString()
      process.stdout.write(json ? `${JSON.stringify({ token, expires_at: expiresAt })}\n` : `${token}\n`)
    })
  addHelp(command, {
    examples: [
      'turnpike session-token --user ada --ttl 10m',
      'curl -H "authorization: Bearer $(turnpike session-token --user ada)" http://127.0.0.1:3099/v1/keys',
    ],
  })
}
