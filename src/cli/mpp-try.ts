import type { Command } from 'commander'
import { CommandError } from './exit-codes.ts'
import { addHelp } from './help.ts'
import { findGateway, parseUrl, type RemoteGateway, send } from './remote/gateway.ts'
import { visible } from './terminal/visible.ts'

const AGENT_PATH = '/v1/agent/messages'
const WALLET_PATH = '/v1/agent/sandbox/tokens'
const MOST_TOKENS = 200
const JSON_TYPE = { 'content-type': 'application/json' }
/** Parameters of a challenge; their values hold no quotes. */
const PARAMETER = /(\w+)="([^"]*)"/g

interface TryOptions {
  readonly model: string
  readonly url?: string
  readonly json?: boolean
}

/** Adds `turnpike mpp try`: pays for one call with the sandbox's wallet. */
export function addTryCommand(mpp: Command): void {
  const command = mpp
    .command('try')
    .description(
      'Pay for one call in the sandbox (SVC_MPP=sandbox): challenge, token, answer, receipt. No money moves.',
    )
    .argument('[text]', 'the message', 'Hello')
    .option('--model <name>', 'the model', 'demo/echo')
    .option('--url <url>', 'the gateway’s address (default: the configured one on this machine)', parseUrl)
    .option('--json', 'print JSON')
    .action(tryCall)
  addHelp(command, {
    examples: ['SVC_MPP=sandbox turnpike start', 'turnpike mpp try "What is a toll?"'],
    exits: { 1: 'the gateway runs no sandbox, or refused the payment' },
  })
}

async function tryCall(text: string, { model, url, json = false }: TryOptions): Promise<void> {
  const gateway = findGateway(url === undefined ? {} : { url })
  const body = JSON.stringify({ model, max_tokens: MOST_TOKENS, messages: [{ role: 'user', content: text }] })
  const challenge = await challengeFor(gateway, body)
  const token = await tokenFor(gateway, challenge)
  const credential = Buffer.from(JSON.stringify({ challenge, payload: { spt: token } })).toString('base64url')
  const headers = { ...JSON_TYPE, authorization: `Payment ${credential}` }
  const reply = await send(gateway, AGENT_PATH, { method: 'POST', headers, body })
  const answer = await reply.text()
  if (!reply.ok) throw new CommandError(1, `The paid call was refused with ${reply.status}: ${visible(answer)}`)
  const receipt = decoded(reply.headers.get('payment-receipt') ?? '')
  const paid = { sandbox: true, amount: decoded(challenge.request ?? '').amount, receipt, answer: JSON.parse(answer) }
  process.stdout.write(json ? `${JSON.stringify(paid, undefined, 2)}\n` : render(paid))
}

type Challenge = Readonly<Record<string, string>>

async function challengeFor(gateway: RemoteGateway, body: string): Promise<Challenge> {
  const reply = await send(gateway, AGENT_PATH, { method: 'POST', headers: JSON_TYPE, body })
  if (reply.headers.get('x-svc-sandbox') === null)
    throw new CommandError(1, 'This gateway runs no sandbox. Start it with SVC_MPP=sandbox.')
  const text = await reply.text()
  if (reply.status !== 402)
    throw new CommandError(1, `Expected a challenge (402), got ${reply.status}: ${visible(text)}`)
  const header = reply.headers.get('www-authenticate') ?? ''
  return Object.fromEntries([...header.matchAll(PARAMETER)].map(([, name = '', value = '']) => [name, value]))
}

async function tokenFor(gateway: RemoteGateway, { request = '' }: Challenge): Promise<string> {
  const body = JSON.stringify({ amount: decoded(request).amount })
  const reply = await send(gateway, WALLET_PATH, { method: 'POST', headers: JSON_TYPE, body })
  const { id } = (await reply.json()) as { readonly id?: unknown }
  if (typeof id !== 'string') throw new CommandError(1, `The sandbox granted no token (${reply.status}).`)
  return id
}

function decoded(text: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(text, 'base64url').toString() || '{}')
}

interface Paid {
  readonly amount: unknown
  readonly receipt: Readonly<Record<string, unknown>>
  readonly answer: { readonly content?: readonly { readonly text?: string }[] }
}

function render({ amount, receipt, answer }: Paid): string {
  const text = (answer.content ?? []).map((block) => block.text ?? '').join('')
  return `SANDBOX: no money moves\n  challenge  ${amount} cents\n  payment    ${receipt.reference}\n  answer     ${visible(text)}\n`
}
