import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import test from 'ava'
import { OPERATOR_KEY } from '../support/fixture.ts'
import { startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { startProvider } from '../support/stand-in-provider.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-proxy-'))
const [keyFile, certificateFile] = [path.join(folder, 'key.pem'), path.join(folder, 'certificate.pem')]
execFileSync(
  'openssl',
  [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=stand-in', '-addext', 'subjectAltName=DNS:provider.test,DNS:localhost'],
    ...['-keyout', keyFile, '-out', certificateFile],
  ],
  { stdio: 'pipe' },
)

const listen = async (server: Server) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port // safe: it listens on TCP
}

const provider = await startProvider({ apiKey: OPERATOR_KEY })
const tls = createTlsServer({ key: readFileSync(keyFile), cert: readFileSync(certificateFile) }, (socket) => {
  const inner = connect(Number(new URL(provider.url).port), '127.0.0.1')
  socket.on('error', () => inner.destroy()).pipe(inner)
  inner.on('error', () => socket.destroy()).pipe(socket)
})
const tlsPort = await listen(tls)

/** Starts a proxy that resolves `provider.test`, and records the requested hosts with their credentials. */
async function startProxy(answer: 'connect' | 'refuse' = 'connect') {
  const asked: { host: string; authorization: string | undefined }[] = []
  const server = createHttpServer()
  server.on('connect', (request, socket) => {
    asked.push({ host: String(request.url), authorization: request.headers['proxy-authorization'] })
    if (answer === 'refuse') return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const inner = connect(tlsPort, '127.0.0.1', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'))
    socket.on('error', () => inner.destroy()).pipe(inner)
    inner.on('error', () => socket.destroy()).pipe(socket)
  })
  const port = await listen(server)
  return { port, asked, url: `http://127.0.0.1:${port}`, close: () => void server.close() }
}

test.after.always(async () => {
  tls.close()
  await provider.close()
  rmSync(folder, { recursive: true })
})

const environment = { ANTHROPIC_API_KEY: OPERATOR_KEY, SVC_PIPELINE: 'none' }
/** Only a process has it. */
const trusting = { ...environment, NODE_EXTRA_CA_CERTS: certificateFile }

test('outbound: calls go through HTTPS_PROXY, with an extra CA, streams included', async (t) => {
  const proxy = await startProxy()
  t.teardown(proxy.close)
  const env = { ...trusting, ANTHROPIC_BASE_URL: 'https://provider.test', HTTPS_PROXY: proxy.url }
  await using gateway = await startGatewayProcess(env)
  const plain = await send(gateway.url, { body: ask('through the proxy') })
  t.is(plain.status, 200, plain.text)
  const streamed = await send(gateway.url, { body: ask('through the proxy', { stream: true }) })
  t.regex(streamed.text, /message_stop/)
  t.is(proxy.asked[0]?.host, 'provider.test:443')
})

test('outbound: the proxy gets its user and password, which are in no log', async (t) => {
  const proxy = await startProxy()
  t.teardown(proxy.close)
  const withUser = proxy.url.replace('//', '//user:CANARY@')
  const env = { ...trusting, ANTHROPIC_BASE_URL: 'https://provider.test', HTTPS_PROXY: withUser, LOG_LEVEL: 'debug' }
  const gateway = await startGatewayProcess(env)
  t.teardown(gateway.stop)
  const reply = await send(gateway.url, { body: ask('hi') })
  t.is(reply.status, 200, reply.text)
  t.is(proxy.asked[0]?.authorization, `Basic ${Buffer.from('user:CANARY').toString('base64')}`)
  await gateway.stop()
  t.notRegex(gateway.log(), /CANARY/)
})

test('outbound: hosts of NO_PROXY are called directly', async (t) => {
  const proxy = await startProxy()
  t.teardown(proxy.close)
  const env = { ...trusting, ANTHROPIC_BASE_URL: `https://localhost:${tlsPort}` }
  await using gateway = await startGatewayProcess({ ...env, HTTPS_PROXY: proxy.url, NO_PROXY: 'example.com,localhost' })
  const reply = await send(gateway.url, { body: ask('hi') })
  t.is(reply.status, 200, reply.text)
  t.is(proxy.asked.length, 0)
})

test('outbound: a certificate that no authority has signed is 502, and no key is sent', async (t) => {
  const seen = provider.seen.length
  await using gateway = await startGateway({
    ...environment,
    ANTHROPIC_BASE_URL: `https://localhost:${tlsPort}`,
  })
  const reply = await send(gateway.url, { body: ask('untrusted') })
  t.is(reply.status, 502)
  t.regex(String(valueAt(reply.json, 'error.message')), /certificate/i)
  t.false(provider.seen.slice(seen).some(({ raw }) => raw.includes('untrusted')))
})

test('outbound: a proxy that refuses is 502, and its password is not sent', async (t) => {
  const proxy = await startProxy('refuse')
  t.teardown(proxy.close)
  const withUser = proxy.url.replace('//', '//user:CANARY@')
  const env = { ...environment, ANTHROPIC_BASE_URL: 'https://provider.test', HTTPS_PROXY: withUser }
  const gateway = await startGateway(env)
  t.teardown(gateway.stop)
  const reply = await send(gateway.url, { body: ask('hi') })
  t.is(reply.status, 502)
  t.notRegex(reply.text, /CANARY/)
  t.is((await send(gateway.url, { method: 'GET', path: '/health' })).status, 200)
  await gateway.stop()
  t.notRegex(gateway.log(), /CANARY|unhandled/)
})
