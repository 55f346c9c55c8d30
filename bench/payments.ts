/**
 * CPU of the gateway for a call that is refused with a challenge, for one with a forged challenge, and for a relayed
 * one: `node bench/payments.ts`. Microseconds of CPU per request, of the gateway's process alone.
 */
import { Agent, request } from 'undici'
import { credential, openAgentFixtureWith, readChallenge } from '../test/payments/agent-fixture.ts'
import { startGatewayProcess } from '../test/support/gateway-process.ts'
import { ask } from '../test/support/http-client.ts'
import { cpuMicroseconds, processTree } from './process-accounting.ts'

const REQUESTS = 10_000
const AT_ONCE = 64

/** Rate limit that is counted but never reached. */
const MANY = 10_000_000
const limits = { challenges_per_minute: { per_address: MANY, overall: MANY } }
const fixture = await openAgentFixtureWith(startGatewayProcess, { env: { LOG_LEVEL: 'warn' }, mpp: limits })
const pids = processTree(fixture.fixture.gateway.pid)
const dispatcher = new Agent({ connections: AT_ONCE })
const body = JSON.stringify(ask('what is the toll'))
const agent = fixture.agent()
const challenge = readChallenge(await agent.send({ body }))

async function measure(name: string, path: string, authorization: string | undefined, status: number): Promise<void> {
  const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
  const one = async () => {
    const reply = await request(`${fixture.url}${path}`, { method: 'POST', headers, body, dispatcher })
    await reply.body.dump()
    if (reply.statusCode !== status) throw new Error(`${name}: ${reply.statusCode}`)
  }
  const run = async (count: number) => {
    let left = count
    const loop = async () => {
      while (left-- > 0) await one()
    }
    await Promise.all(Array.from({ length: AT_ONCE }, loop))
  }
  await run(REQUESTS / 5)
  const before = cpuMicroseconds(pids)
  await run(REQUESTS)
  const micros = (cpuMicroseconds(pids) - before) / REQUESTS
  process.stdout.write(`${name.padEnd(28)} ${micros.toFixed(0).padStart(6)} µs of CPU a request\n`)
}

await measure('relayed', '/v1/messages', 'Bearer key', 200)
await measure('402, no credential', '/v1/agent/messages', undefined, 402)
await measure(
  '402, forged challenge',
  '/v1/agent/messages',
  credential({ ...challenge, id: 'A'.repeat(43) }, 'spt_x'),
  402,
)
await dispatcher.close()
await fixture.close()
