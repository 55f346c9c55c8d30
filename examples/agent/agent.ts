/**
 * Example of an agent without an account: it reads the price, requests a quote, pays for one call and prints the reply
 * as it streams. `node examples/agent/agent.ts <gateway> <question>`; the wallet is the command in `WALLET`, which
 * receives the challenge's request as JSON and prints a Shared Payment Token.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const TRIES = 5
const [, , gateway = 'http://127.0.0.1:3099', question = 'What is a toll?'] = process.argv
const wallet = process.env.WALLET
if (wallet === undefined) throw new Error('WALLET: expected a command that prints a Shared Payment Token.')

const discovery = await json(await fetch(`${gateway}/.well-known/mpp`))
const [method] = discovery.payment_methods as { status: string }[]
if (method?.status === 'not_configured') throw new Error('Nothing can be paid here.')

/** The same bytes are quoted, challenged and paid for. */
const body = JSON.stringify({
  model: 'claude-sonnet-4-5',
  max_tokens: 500,
  stream: true,
  messages: [{ role: 'user', content: question }],
})
const headers = { 'content-type': 'application/json' }
const quote = await json(await fetch(`${gateway}/v1/agent/quote`, { method: 'POST', headers, body }))
if (quote.is_covered !== true) throw new Error(`Ask for at most ${quote.max_tokens} tokens.`)

const url = `${gateway}/v1/agent/messages`
const challenge = challengeOf(await fetch(url, { method: 'POST', headers, body }))
const request = Buffer.from(challenge.request ?? '', 'base64url').toString()
process.stderr.write(`to pay: ${request}\n`)
const token = execFileSync(wallet, [request], { encoding: 'utf8' }).trim()

const credential = Buffer.from(JSON.stringify({ challenge, payload: { spt: token } })).toString('base64url')
const paid = { ...headers, authorization: `Payment ${credential}`, 'idempotency-key': randomUUID() }
const response = await send(paid)
const receipt = response.headers.get('payment-receipt')
if (receipt === null) throw new Error(`Not paid: ${response.status} ${await response.text()}`)
process.stderr.write(`receipt: ${Buffer.from(receipt, 'base64url')}\n`)

let rest = ''
for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) if (line.startsWith('data: ')) print(JSON.parse(line.slice(6)))
}
process.stdout.write('\n')

/** Retries 502 and 503 with the same credential, which charges once; pays for nothing else. */
async function send(headers: Record<string, string>): Promise<Response> {
  for (let tried = 1; ; tried++) {
    const response = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
    if (response !== undefined && response.status !== 502 && response.status !== 503) return response
    if (tried === TRIES) throw new Error('No answer yet. The same credential can be sent again later.')
    await sleep(1000 * tried)
  }
}

function challengeOf({ status, headers }: Response): Record<string, string> {
  const field = headers.get('www-authenticate')
  if (status !== 402 || field === null) throw new Error(`Expected a challenge, got ${status}.`)
  const parameters = [...field.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
  return Object.fromEntries(parameters.map(([, name = '', value = '']) => [name, value.replaceAll(/\\(.)/g, '$1')]))
}

async function json(response: Response): Promise<Record<string, unknown>> {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown> // only read, member by member
}

function print(event: { type?: string; delta?: { text?: string } }): void {
  if (event.type === 'content_block_delta') process.stdout.write(event.delta?.text ?? '')
}
